# make check is for a developer before a commit; .ci/run is CI.
GO ?= go
TOOLS := $(CURDIR)/bin
GOLANGCI := $(TOOLS)/golangci-lint
GOPACKAGES := $(TOOLS)/gopackages

GOLANGCI_VERSION := v2.15.0
GOPACKAGES_VERSION := v0.51.0

# What the tests of robotmem/embedding run against; they look for it there. Later versions cannot be built from the module alone.
# It is compiled for a test: with -O1, which takes three quarters of the time.
OLLAMA_VERSION := v0.11.4
OLLAMA := $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/robotmem/ollama-$(OLLAMA_VERSION)/ollama

.PHONY: docs changelog small onnx onnx-test tidy torture torture-short schemathesis ui ui-test browser-test browser-short fuzz-corpus ollama-path check test race vet lint cross examples build fuzz clean ollama compare compare-test release release-test wheels python-test mcpb

check:
	.ci/check

# Modules in folders of this one, so that go.mod lists what the program needs.
MODULES := robotmem/embedding/onnx ui/browsertest

build:
	$(GO) build -o bin/robotmem ./cmd/robotmem

test:
	$(GO) test ./...

# robotmem with the ONNX embedder. Its libraries stay out of the root module: the
# embedder is a module of its own, and a workspace brings the two together.
ONNX := robotmem/embedding/onnx
onnx:
	GOWORK=$(CURDIR)/$(ONNX)/go.work $(GO) build -overlay $(ONNX)/_robotmem/overlay.json -o bin/robotmem-onnx ./cmd/robotmem

# robotmem for an address space of 512 MiB: bin/robotmem-small.
small:
	.ci/small

onnx-test:
	cd $(ONNX) && $(GO) test ./...

# The dashboard in a real browser; pictures of every view go to artifacts/browser.
browser-test:
	.ci/axe
	cd ui/browsertest && $(GO) test -count=1 -timeout 20m -parallel 4 .

# Its main pages, without pictures and axe-core.
browser-short:
	cd ui/browsertest && $(GO) test -count=1 -short .

# The packages where goroutines meet, without tests of one goroutine: those that damage, mend, pack
# and unpack files, read those of older versions, or compare formats. Searches and recalls stay.
ALONE := Recover|Archive|Python|Stored|Repair|Stock|ADamaged|ALostPage|AFlipped|Checksums|AnEmptied|ReservedBytes|DamagedCodes|ReadRefuses
ALONE := $(ALONE)|SignaturesOf|VectorsOfOlder|PayloadsAreStoredBy|RecordingsComeBack|EveryFormat|DrawingsAndLarge|EstimateHasNoBias
# SQLite itself is not watched: it is one goroutine's at a time, and would take most of the time.
RACE := CGO_ENABLED=1 $(GO) test -race -short -gcflags='github.com/ncruces/go-sqlite3-wasm/...=-race=false'
race:
	$(RACE) -skip '^Test($(ALONE))' ./robotmem/local ./robotmem/internal/engine ./robotmem/client ./robotmem/embedding/... ./robotmem/internal/lexical ./robotmem/mcp ./robotmem/agent/... ./robotmem/attach/... ./robotmem/internal/vector ./web/...
	$(RACE) -run 'Recorder|SameBytes|Visible|Goroutines|SamePayload' ./perception/recorder ./perception/payload

vet:
	$(GO) vet ./...
	@for m in $(MODULES); do echo "vet $$m"; (cd $$m && $(GO) vet ./...) || exit 1; done

# In one workspace, so that what the modules share is read once.
lint: $(GOLANGCI)
	export GOWORK=$(TOOLS)/lint.work GOGC=400 && rm -f $$GOWORK && $(GO) work init . $(MODULES) && \
		$(GOLANGCI) run --allow-parallel-runners ./... $(MODULES:%=./%/...)

# After a change of what the root module requires, which the others build on.
tidy:
	$(GO) mod tidy
	@for m in $(MODULES) examples/compare .ci/packages; do GOWORK=off $(GO) -C $$m mod tidy || exit 1; done

$(GOPACKAGES):
	GOBIN=$(TOOLS) $(GO) install golang.org/x/tools/go/packages/gopackages@$(GOPACKAGES_VERSION)

$(GOLANGCI):
	GOBIN=$(TOOLS) $(GO) install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(GOLANGCI_VERSION)

# Other systems than Linux: their types are checked, which takes a tenth of the time of
# compiling. .ci/arm64 builds for linux/arm64, make release for all.
cross: $(GOPACKAGES)
	@for target in darwin/arm64 windows/amd64 linux/arm; do \
		echo "check $$target"; \
		CGO_ENABLED=0 GOOS=$${target%/*} GOARCH=$${target#*/} $(GOPACKAGES) -mode=allsyntax -deps ./... >bin/cross || exit 1; \
		! grep -E '\.go:[0-9]+:[0-9]+: ' bin/cross || exit 1; \
	done

examples: build
	$(GO) run ./examples/basic
	$(GO) run ./examples/mcp-client -robotmem bin/robotmem
	PYTHONPATH=robotmem/client/python/src ROBOTMEM_BINARY=bin/robotmem python3 -B examples/python/episode.py
	$(GO) run ./examples/nav2d
	$(GO) run ./examples/force-torque
	$(GO) run ./examples/recorder -for 2s
	$(GO) run ./examples/flight-recorder
	$(GO) run ./examples/goal-loop

# The dashboard: its types from the API, then dist/. Both are committed.
ui: build
	cd ui && npm ci --silent && ../bin/robotmem openapi | node generate.mjs && npx tsc --noEmit && node build.mjs

# This node beside other engines: a module of its own, and a C compiler.
compare:
	cd examples/compare && CGO_ENABLED=1 $(GO) run -tags sqlite_fts5 .

# Without the C parts of the standard library, which would have all that uses it compiled again.
compare-test:
	cd examples/compare && export CGO_ENABLED=1 CGO_CFLAGS=-O0 && tags=sqlite_fts5,netgo,osusergo && $(GO) vet -tags $$tags ./... && $(GO) test -tags $$tags ./...

# The changes of changelog/unreleased, as a section of CHANGELOG.md. Run it before the tag of a release.
changelog:
	$(GO) run ./.ci/changelog $(VERSION)

# The documentation as static files with a search that works offline: artifacts/docs/index.html.
docs:
	.ci/venv $(TOOLS)/docs mkdocs-material==9.8.2
	NO_MKDOCS_2_WARNING=1 $(TOOLS)/docs/bin/mkdocs build -q -f .ci/docs/mkdocs.yml

# The functions of the dashboard that compute, in Node.
ui-test:
	cd ui && { [ -d node_modules ] || npm ci --silent; } && npm test --silent

# What is published, into artifacts/release: archives, MCP bundles, wheels, .deb, .rpm, the container image,
# their sums, lists of parts, and the registry's entry. VERSION is the latest tag's unless it is set. ONLY is
# a list of targets such as linux/amd64,linux/armv7. MINISIGN_KEY is the file of the key that signs.
# One with a version is for users: its libraries are looked up in the database of known holes first, and a
# database that is not reached ends it.
release:
	$(if $(VERSION),VULN_OPTIONAL= .ci/vuln)
	.ci/released artifacts/release $(if $(VERSION),-version $(VERSION)) $(if $(ONLY),-only $(ONLY))

# Wheels of the Python package are among them.
wheels: release

# The package as its users get it: wheels, types, notebook, Gymnasium, Stable-Baselines3, LeRobot.
python-test:
	.ci/python

release-test: mcpb
	$(GO) vet ./.ci/release ./.ci/changelog
	$(GO) -C .ci/packages vet ./...
	$(GO) test ./.ci/release ./.ci/changelog

# The official tool that reads bundles.
MCPB_VERSION := 2.1.2
mcpb: $(TOOLS)/mcpb/node_modules/.bin/mcpb
$(TOOLS)/mcpb/node_modules/.bin/mcpb:
	npm install --prefix $(TOOLS)/mcpb --no-audit --no-fund --silent @anthropic-ai/mcpb@$(MCPB_VERSION)

# Every decoder, importer and parser, each for so long.
FUZZTIME ?= 60s
fuzz:
	@.ci/fuzz $(FUZZTIME) ./...

# What fuzzing found worth keeping becomes part of every test run: small inputs
# out of Go's cache.
fuzz-corpus:
	@.ci/fuzz-corpus

# All faults at full length, some 60 minutes on two cores; the short form takes
# two.
torture:
	$(GO) run ./robotmem/internal/torture $(TORTURE)

torture-short:
	$(GO) run ./robotmem/internal/torture -short
	$(GO) test ./robotmem/site/torture -count=1 -for 60s

# Hostile HTTP requests, made from the OpenAPI document. CI runs 30 seconds.
SECONDS_OF_REQUESTS ?= 600
schemathesis: build
	.ci/schemathesis bin/robotmem $(SECONDS_OF_REQUESTS)

# A real Ollama, built once: some 4 minutes and a C compiler.
ollama: $(OLLAMA)

ollama-path:
	@echo $(OLLAMA)

$(OLLAMA):
	CGO_ENABLED=1 CGO_CFLAGS=-O1 CGO_CXXFLAGS=-O1 GOBIN=$(dir $(OLLAMA)) $(GO) install -tags netgo,osusergo github.com/ollama/ollama@$(OLLAMA_VERSION)

clean:
	rm -rf bin artifacts
