package taxonomy_test

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/robotmem/robotmem-go/"

// rule bans an import, direct or through other packages of this module, for a
// package and all below it.
type rule struct{ from, banned, why string }

// rules are the arrows: each points one way.
var rules = []rule{
	{"robotmem", module + "web", "faces import the engine, never the reverse"},
	{"robotmem", module + "cmd", "commands wire everything; nothing imports them"},
	{"web", module + "cmd", "commands wire everything; nothing imports them"},
	{"web", module + "robotmem/mcp", "cmd mounts the MCP handler on the web server"},
	{"web", module + "robotmem/client", "a server does not need its client"},
	{"robotmem/mcp", module + "robotmem/client", "faces know nothing of each other"},
	{"robotmem/client", module + "robotmem/mcp", "faces know nothing of each other"},
	{"robotmem", module + "robotmem/embedding", "an embedder is handed in; the engine runs without one"},
	{"robotmem/embedding", module + "robotmem/mcp", "an embedder serves the engine, not its faces"},
	{"robotmem/embedding", module + "robotmem/client", "an embedder serves the engine, not its faces"},
	{"robotmem/embedding", module + "web", "an embedder serves the engine, not its faces"},
	{"classify", module, "a leaf"},
	{"consolidate", module, "a leaf"},
	{"perception", module, "a leaf"},
	{"robotmem/text", module, "a leaf"},
	{"robotmem/lexical", module, "a leaf"},
	{"robotmem/vector", module, "a leaf"},
	{"robotmem/when", module, "a leaf"},
	{"robotmem/salvage", module, "a leaf"},
	{"robotmem/salvage", "github.com/ncruces/go-sqlite3", "it reads what the driver refuses, without it"},
	{"robotmem/pagesum", module, "a leaf"},
	{"robotmem/quantity", module, "a leaf"},
	{"robotmem/archive", module, "a leaf"},
	{"ui", module, "a leaf"},
	{"classify", "net/http", "classifiers are pure"},
	{"consolidate", "net/http", "plans are pure"},
	{"classify", "os", "classifiers are pure"},
	{"consolidate", "os", "plans are pure"},
}

// ground is the one leaf that others may stand on: who writes a page and who
// salvages one must mean the same sum.
const ground = module + "robotmem/pagesum"

// owners are the only packages that may import a library, so that it can be
// replaced in one place.
var owners = map[string][]string{
	"github.com/labstack/echo/v4":            {"web"},
	"github.com/cespare/xxhash/v2":           {"robotmem/pagesum"},
	"github.com/tmaxmax/go-sse":              {"robotmem/client"},
	"github.com/mark3labs/mcp-go":            {"robotmem/mcp", "examples/mcp-client"},
	"github.com/ncruces/go-sqlite3":          {"robotmem", "robotmem/vector", "perception/recording", "robotmem/faultdisk", "robotmem/torture"},
	"github.com/go-ego/gse":                  {"robotmem/text"},
	"github.com/alecthomas/kong":             {"cmd/robotmem"},
	"github.com/knadh/koanf/v2":              {"cmd/robotmem"},
	"github.com/goccy/go-yaml":               {"classify", "cmd/robotmem", "perception/recording"},
	"github.com/go-playground/validator/v10": {"robotmem"},
	"github.com/ollama/ollama":               {"robotmem/embedding", "robotmem/embedding/embedtest"},
	"github.com/klauspost/compress":          {"perception/payload", "perception/recording", "robotmem/archive", "web"},
	"golang.org/x/time":                      {"web"},
	"github.com/rs/cors":                     {"web"},
	"github.com/parquet-go/parquet-go":       {"perception/lerobot"},
	"github.com/foxglove/mcap/go/mcap":       {"perception/segment", "perception/recording", "perception/recording/recordingtest"},
	"github.com/prometheus/client_golang":    {"web"},
	"github.com/mewkiz/flac":                 {"perception/audio"},
	"gonum.org/v1/gonum":                     {"perception/audio"},
	"github.com/knights-analytics/hugot":     {"robotmem/embedding"},
	"github.com/chromedp/chromedp":           {"ui/browsertest"}, // its tests alone
	"github.com/pelletier/go-toml/v2":        {"cmd/robotmem"},
	"github.com/tailscale/hujson":            {"cmd/robotmem"},
	module + "robotmem/faultdisk":            {"robotmem/torture"}, // and tests: no node keeps its memory on it
}

// topLevel is fixed by the customer, plus the usual files.
var topLevel = []string{"cmd", "robotmem", "perception", "classify", "consolidate", "web", "ui", "examples", "docs"}

// The files are read here, not by a "go list" child: go test caches by the
// files the test itself opens, and would stay green after a child's change.
func imports(t *testing.T) map[string][]string {
	t.Helper()
	found := map[string][]string{}
	err := filepath.WalkDir(".", func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && p != "." && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata" || d.Name() == "node_modules") {
			return filepath.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(p, ".go") || strings.HasSuffix(p, "_test.go") {
			return nil
		}
		f, err := parser.ParseFile(token.NewFileSet(), p, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		dir := path.Dir(filepath.ToSlash(p))
		for _, i := range f.Imports {
			found[dir] = append(found[dir], strings.Trim(i.Path.Value, `"`))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(found) < 8 {
		t.Fatalf("only %d packages found: the test looks in the wrong place", len(found))
	}
	return found
}

func TestArrows(t *testing.T) {
	all := imports(t)
	for _, r := range rules {
		for dir := range all {
			if dir != r.from && (!strings.HasPrefix(dir, r.from+"/") || r.why == "a leaf") {
				continue
			}
			if r.from == "robotmem" && dir != "robotmem" {
				continue // its faces have rules of their own
			}
			seen := map[string]bool{}
			var walk func(dir, via string)
			walk = func(dir, via string) {
				for _, dep := range all[dir] {
					if r.why == "a leaf" && (strings.HasPrefix(dep, module+r.from+"/") || dep == ground) {
						continue // its own rooms
					}
					if dep == r.banned || strings.HasPrefix(dep, strings.TrimSuffix(r.banned, "/")+"/") {
						t.Errorf("%s imports %s: %s", via, dep, r.why)
					}
					if in, ok := strings.CutPrefix(dep, module); ok && !seen[in] {
						seen[in] = true
						walk(in, via+" -> "+in)
					}
				}
			}
			walk(dir, dir)
		}
	}
}

func TestLibrariesHaveOneOwner(t *testing.T) {
	for dir, deps := range imports(t) {
		for _, dep := range deps {
			for lib, allowed := range owners {
				if (dep == lib || strings.HasPrefix(dep, lib+"/")) && !slices.Contains(allowed, dir) {
					t.Errorf("%s imports %s, which is for %s alone", dir, dep, strings.Join(allowed, ", "))
				}
			}
		}
	}
}

func TestSQLStandsInStoreFiles(t *testing.T) {
	for _, dir := range []string{"robotmem", "robotmem/mcp", "robotmem/client", "robotmem/text", "robotmem/lexical", "web", "classify", "consolidate", "perception", "perception/recording", "cmd/robotmem"} {
		files, err := filepath.Glob(filepath.Join(dir, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			name := filepath.Base(f)
			if strings.HasSuffix(name, "_test.go") || dir == "robotmem" && (strings.HasPrefix(name, "store_") || name == "migrate.go" || name == "sqlite.go") || name == "doc.go" || f == "perception/recording/rosbag.go" {
				continue
			}
			data, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			for _, word := range []string{"SELECT ", "INSERT INTO", "DELETE FROM", "UPDATE memories"} {
				if strings.Contains(string(data), word) {
					t.Errorf("%s holds SQL (%s): it belongs into a store_*.go", f, strings.TrimSpace(word))
				}
			}
		}
	}
}

func TestTopLevel(t *testing.T) {
	entries, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.IsDir() && !strings.HasPrefix(e.Name(), ".") && !slices.Contains(topLevel, e.Name()) && e.Name() != "bin" && e.Name() != "artifacts" {
			t.Errorf("%s/ is not in the tree of the architecture: %s", e.Name(), strings.Join(topLevel, " "))
		}
	}
}
