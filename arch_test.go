package taxonomy_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/robotmem/robotmem-go/"

// arrows lists, for a package and those below it, the packages of this module
// that it may import, and why no others. The longest matching folder decides. A name that ends with
// "/." allows the package without those below it.
var arrows = []struct {
	from string
	may  []string
	why  string
}{
	{"robotmem", []string{"perception", "robotmem/internal/timeparse", "robotmem/internal/units", "robotmem/where"}, "the domain knows no implementation and does no I/O"},
	{"robotmem/admin", nil, "the domain knows no implementation and does no I/O"},
	{"robotmem/progress", nil, "the domain knows no implementation and does no I/O"},
	{"robotmem/local", []string{"robotmem", "robotmem/archive", "robotmem/internal/budget", "robotmem/internal/disk", "robotmem/internal/engine", "robotmem/internal/files", "robotmem/internal/keys", "robotmem/internal/maintenance", "robotmem/internal/record", "robotmem/internal/store/.", "robotmem/internal/store/sqlite", "perception/recorder"}, "an engine on a file, and what users of the module see of it"},
	{"robotmem/fleet", []string{"robotmem", "robotmem/local", "robotmem/archive", "robotmem/internal/engine", "robotmem/internal/files", "robotmem/internal/filter", "robotmem/internal/outgoing", "robotmem/internal/recall", "robotmem/internal/store/.", "robotmem/internal/store/sqlite"}, "a robot's side of a site; it asks the site over HTTP"},
	{"robotmem/site", []string{"robotmem", "robotmem/fleet", "robotmem/local", "robotmem/archive", "robotmem/internal/checked", "robotmem/internal/engine", "robotmem/internal/files", "robotmem/internal/record", "robotmem/internal/store/.", "robotmem/internal/store/postgres"}, "memories of tenants on a server, and the site's side of the protocol"},
	{"robotmem/client", []string{"robotmem", "robotmem/internal/outgoing"}, "implementations of Service know nothing of each other"},
	{"robotmem/mcp", []string{"robotmem"}, "a transport takes any Service"},
	{"robotmem/embedding", []string{"robotmem", "robotmem/internal/encoder", "robotmem/internal/outgoing"}, "an embedder serves a memory, not its transports"},
	{"robotmem/eval", []string{"robotmem", "robotmem/internal/languages", "robotmem/internal/text"}, "quality is measured through Service"},
	{"robotmem/bench", []string{"robotmem", "robotmem/eval", "robotmem/local", "robotmem/site", "robotmem/archive", "robotmem/fleet"}, "speed is measured on nodes, whatever program asks for it"},
	{"robotmem/archive", nil, "a format, without the memory that it is filled from"},
	{"robotmem/archive/jsonl", []string{"robotmem", "robotmem/internal/files"}, "lines are learnt through any Service"},
	{"robotmem/archive/markdown", []string{"robotmem", "robotmem/archive", "perception/importers"}, "a format, and notes that are learnt through any Service"},
	{"robotmem/archive/sensors", []string{"robotmem", "perception"}, "perceptions are stored through any Service"},
	{"robotmem/archive/python", []string{"robotmem", "robotmem/archive", "robotmem/internal/files", "robotmem/internal/record", "robotmem/internal/store", "perception", "consolidate"}, "a file of another program is read, without a memory to fill"},
	{"robotmem/agent", []string{"robotmem", "classify", "consolidate", "perception/importers/."}, "agents are remembered through any Service"},
	{"robotmem/agent/block", []string{"robotmem/.", "classify/secrets"}, "texts for prompts, wherever they are injected"},
	{"robotmem/agent/model", []string{"robotmem", "robotmem/internal/outgoing"}, "a language model is asked and counted, whatever for"},
	{"robotmem/agent/proxy", []string{"robotmem", "robotmem/agent/block", "robotmem/internal/outgoing", "classify"}, "conversations are remembered through any Service"},
	{"robotmem/agent/workers", []string{"robotmem", "consolidate", "robotmem/agent/block", "robotmem/agent/model", "robotmem/agent/proxy", "robotmem/internal/text", "classify"}, "a language model adds through any Service"},
	{"robotmem/imports", []string{"robotmem", "robotmem/archive/sensors", "robotmem/internal/disk", "robotmem/internal/files", "robotmem/internal/store/sqlite", "perception"}, "recordings that a node receives, stored through any Service"},
	{"robotmem/attach/mavlink", nil, "a protocol, whatever its messages are for"},
	{"robotmem/attach", []string{"robotmem", "robotmem/attach/foxglove", "robotmem/attach/mavlink", "perception", "consolidate"}, "a living robot is followed, and remembered through any Service"},
	{"robotmem/attach/foxglove", []string{"perception/segment"}, "a protocol, whatever its messages are for"},
	{"robotmem/backup", []string{"robotmem", "robotmem/local", "robotmem/internal/disk", "robotmem/internal/engine", "robotmem/internal/files", "robotmem/internal/keys", "robotmem/internal/store/.", "robotmem/internal/store/sqlite", "robotmem/internal/maintenance", "robotmem/internal/text", "robotmem/internal/units", "perception/payload"}, "a copy of the file, whatever its indexes in memory hold"},
	{"robotmem/internal/checked", []string{"robotmem", "robotmem/archive", "robotmem/internal/record", "robotmem/internal/store/."}, "the checks of records that another program has written; nothing is stored"},
	{"robotmem/internal/engine", []string{"", "robotmem", "robotmem/archive", "robotmem/internal/attempts", "robotmem/internal/budget", "robotmem/internal/checked", "robotmem/internal/disk", "robotmem/internal/documents", "robotmem/internal/embeddings", "robotmem/internal/filter", "robotmem/internal/index", "robotmem/internal/lexical", "robotmem/internal/maintenance", "robotmem/internal/profile", "robotmem/internal/recall", "robotmem/internal/record", "robotmem/internal/reranking", "robotmem/internal/store/.", "robotmem/internal/subjects", "robotmem/internal/text", "robotmem/internal/tries", "robotmem/internal/units", "robotmem/internal/vector", "robotmem/spelling", "perception", "classify", "consolidate"}, "the operations over a store, without its database, transports or other implementations"},
	{"robotmem/internal/budget", nil, "a leaf"},
	{"robotmem/internal/files", []string{"robotmem"}, "names of files; nothing is opened"},
	{"robotmem/internal/disk", []string{"robotmem/internal/files", "perception/payload"}, "a leaf: files are changed, and nothing else is known of them"},
	{"robotmem/internal/keys", []string{"robotmem", "robotmem/internal/disk", "robotmem/internal/files", "perception/payload"}, "ciphers and their file; nothing is known of what they encrypt"},
	{"robotmem/internal/store/sqlite", []string{"robotmem", "robotmem/internal/budget", "robotmem/internal/disk", "robotmem/internal/files", "robotmem/internal/keys", "robotmem/internal/record", "robotmem/internal/store", "robotmem/internal/text", "robotmem/internal/units", "robotmem/internal/vector", "perception/payload"}, "the tables in a file; no other package opens it"},
	{"robotmem/internal/store/postgres", []string{"robotmem", "robotmem/internal/files", "robotmem/internal/outgoing", "robotmem/internal/store", "robotmem/internal/units"}, "the tables on a server; no other package asks it"},
	{"robotmem/internal/store/storetest", []string{"robotmem/internal"}, "tests of both databases"},
	{"robotmem/internal/record", []string{"robotmem", "robotmem/internal/filter", "robotmem/internal/text", "robotmem/internal/units", "perception", "classify", "consolidate"}, "prepares records before a transaction; no SQL"},
	{"robotmem/internal/store", []string{"robotmem", "robotmem/archive", "robotmem/internal/disk", "robotmem/internal/files", "robotmem/internal/keys", "robotmem/internal/filter", "robotmem/internal/lexical", "robotmem/internal/record", "robotmem/internal/text", "robotmem/internal/units", "robotmem/internal/vector", "perception", "consolidate"}, "tables alone; package index keeps the structures in memory"},
	{"robotmem/internal/index", []string{"robotmem", "robotmem/internal/budget", "robotmem/internal/filter", "robotmem/internal/lexical", "robotmem/internal/recall", "robotmem/internal/store/.", "robotmem/internal/stream", "robotmem/internal/subjects", "robotmem/internal/text", "robotmem/internal/units", "robotmem/internal/vector", "consolidate"}, "what follows the tables in memory knows no service"},
	{"robotmem/documents", []string{"robotmem", "robotmem/internal/folder", "perception/documents", "perception/importers/."}, "documents are stored through any Service"},
	{"robotmem/notes", []string{"robotmem", "robotmem/archive/markdown", "robotmem/internal/folder"}, "notes are kept through any Service"},
	{"robotmem/internal/folder", []string{"perception/importers/."}, "files that others write, whatever they hold"},
	{"robotmem/internal/documents", []string{"robotmem", "robotmem/internal/record", "robotmem/internal/store/."}, "documents as passages, below any service"},
	{"robotmem/internal/tries", []string{"robotmem", "robotmem/internal/record", "robotmem/internal/store/.", "robotmem/internal/text"}, "the tries at a goal as facts, below any service"},
	{"robotmem/internal/subjects", []string{"robotmem", "robotmem/internal/text", "robotmem/internal/units", "robotmem/spelling"}, "names of robots, places and things in texts and contexts; pure"},
	{"robotmem/internal/profile", []string{"robotmem", "robotmem/internal/index", "robotmem/internal/lexical", "robotmem/internal/recall", "robotmem/internal/record", "robotmem/internal/store/.", "robotmem/internal/subjects", "classify"}, "pages of subjects, below any service"},
	{"robotmem/internal/attempts", []string{"robotmem", "robotmem/internal/advise", "robotmem/internal/filter", "robotmem/internal/index", "robotmem/internal/recall", "robotmem/internal/record", "robotmem/internal/store/.", "robotmem/internal/text", "robotmem/internal/units", "robotmem/spelling"}, "what advise counts, below any service"},
	{"robotmem/internal/maintenance", []string{"robotmem", "robotmem/internal", "perception", "consolidate"}, "examines tables and indexes, below any service"},
	{"robotmem/internal/embeddings", []string{"robotmem", "robotmem/internal/languages", "robotmem/internal/maintenance", "robotmem/internal/recall", "robotmem/internal/store/.", "robotmem/internal/vector"}, "calls the embedder of a memory, below any service"},
	{"robotmem/internal/reranking", []string{"robotmem", "robotmem/internal/recall", "robotmem/internal/store/."}, "calls the reranker of a memory, below any service"},
	{"robotmem/internal/filter", []string{"robotmem", "robotmem/internal/text", "robotmem/internal/units"}, "a filter is read the same over any store"},
	{"robotmem/internal/recall", []string{"robotmem", "robotmem/internal/filter", "robotmem/internal/record", "robotmem/internal/text", "robotmem/internal/timeparse", "classify", "consolidate"}, "ranking knows no store"},
	{"robotmem/internal/advise", []string{"robotmem", "consolidate"}, "statistics know no store"},
	{"robotmem/internal/lexical", []string{"robotmem/internal/stream"}, "a leaf"},
	{"robotmem/internal/vector", []string{"robotmem/internal/stream"}, "a leaf"},
	{"robotmem/internal/encoder", nil, "a leaf"},
	{"robotmem/internal/outgoing", nil, "a leaf"},
	{"robotmem/notices", nil, "a text"},
	{"robotmem/spelling", nil, "a leaf"},
	{"robotmem/where", nil, "a leaf"},
	{"robotmem/internal/languages", nil, "a leaf: its caller has the vectors computed"},
	{"robotmem/internal/stream", nil, "a leaf"},
	{"robotmem/internal/text", []string{"robotmem/internal/units"}, "a leaf; a unit has one definition"},
	{"robotmem/internal/units", nil, "a leaf"},
	{"robotmem/internal/timeparse", nil, "a leaf"},
	{"perception", []string{"perception"}, "formats know nothing of the memory that keeps them"},
	{"classify", nil, "rules are pure"},
	{"consolidate", nil, "plans are pure"},
	{"web", []string{"ui", "robotmem"}, "a transport takes any Service"},
	{"web/oauth", nil, "the protocol of logins, whatever the memory and whoever keeps its grants"},
	{"ui", nil, "files"},
}

// domain are the packages of the domain, which every rule treats as one.
var domain = []string{"robotmem", "robotmem/admin", "robotmem/progress"}

// pure packages do no I/O.
var pure = []string{"classify", "consolidate", "robotmem", "robotmem/admin"}

var banned = []string{"net/http", "os/exec", "database/sql", "github.com/ncruces/go-sqlite3"}

// owners are the only packages that may import a library, so that it can be
// replaced in one place.
var owners = map[string][]string{
	"github.com/labstack/echo/v4":            {"web"},
	"github.com/coreos/go-oidc/v3":           {"web"},
	"github.com/go-oauth2/oauth2/v4":         {"web/oauth"},
	"github.com/tmaxmax/go-sse":              {"robotmem/client"},
	"github.com/mark3labs/mcp-go":            {"robotmem/mcp", "examples/mcp-client"},
	"github.com/coder/websocket":             {"robotmem/attach/foxglove"},
	"github.com/ncruces/go-sqlite3":          {"robotmem/internal/store/sqlite", "robotmem/internal/vector", "perception/importers", "perception/importers/importerstest", "perception/importers/recording", "robotmem/internal/faultdisk", "robotmem/internal/torture"},
	"filippo.io/age":                         {"robotmem/internal/keys"},
	"golang.org/x/crypto":                    {"robotmem/internal/keys"},
	"lukechampine.com/adiantum":              {"robotmem/internal/keys", "robotmem/internal/store/sqlite"},
	"github.com/jackc/pgx/v5":                {"robotmem/internal/store/postgres", "robotmem/internal/store/postgres/postgrestest"},
	"github.com/go-ego/gse":                  {"robotmem/internal/text"},
	"github.com/alecthomas/kong":             {"cmd/robotmem", "cmd/robotmem/internal/complete", "cmd/robotmem/internal/given", "cmd/robotmem/internal/manual", "cmd/robotmem/internal/operations"},
	"github.com/go-viper/mapstructure/v2":    {"cmd/robotmem"},
	"github.com/goccy/go-yaml":               {"classify", "cmd/robotmem", "cmd/robotmem/internal/tokens", "perception/importers/recording", "perception/events", "perception/occupancy"},
	"github.com/go-playground/validator/v10": {"robotmem"},
	"github.com/ollama/ollama":               {"robotmem/agent/model", "robotmem/embedding"},
	"github.com/nlpodyssey/safetensors":      {"robotmem/embedding"},
	"github.com/x448/float16":                {"robotmem/embedding", "robotmem/internal/encoder"},
	"github.com/hashicorp/golang-lru":        {"robotmem/embedding", "robotmem/site", "robotmem/internal/recall", "robotmem/mcp", "web", "web/oauth"},
	"golang.org/x/sync":                      {"robotmem/archive/sensors", "robotmem/embedding", "robotmem/mcp", "web"},
	"github.com/klauspost/compress":          {"perception/payload", "perception/importers/recording", "robotmem/archive", "robotmem/internal/store", "robotmem/internal/text", "web"},
	"golang.org/x/time":                      {"web", "web/oauth"},
	"github.com/parquet-go/parquet-go":       {"perception/importers/lerobot"},
	"github.com/foxglove/mcap/go/mcap":       {"perception/segment", "perception/importers/recording", "perception/importers/timeline"},
	"google.golang.org/protobuf":             {"perception/importers/message"},
	"github.com/prometheus/client_golang":    {"web"},
	"github.com/mewkiz/flac":                 {"perception/audio"},
	"github.com/fsnotify/fsnotify":           {"robotmem/internal/folder"},
	"github.com/klippa-app/go-pdfium":        {"perception/documents"},
	"github.com/tetratelabs/wazero":          {"perception/documents"},
	"gonum.org/v1/gonum":                     {"perception/audio", "perception/importers/recording", "robotmem/internal/advise"},
	"github.com/knights-analytics/hugot":     {"robotmem/embedding/onnx"},
	"github.com/chromedp/chromedp":           {"ui/browsertest"}, // its tests alone
	"github.com/pelletier/go-toml/v2":        {"robotmem/internal/subjects", "robotmem/mcp/clients", "classify/secrets/internal/generate"},
	"github.com/tailscale/hujson":            {"robotmem/mcp/clients"},
	module + "robotmem/internal/faultdisk":   {"robotmem/internal/torture"}, // and tests: no node keeps its memory on it
}

// memorySuffixes begin the names of what belongs to a memory, after the name of its file. Package
// robotmem/internal/files appends them, and nothing else.
var memorySuffixes = []string{
	"-wal", "-shm", "-journal", ".payloads", ".keys", ".tokens", ".grants", ".secret", ".backups.json", ".fleet", ".node", ".lock", ".imports", ".import-",
	".before-restore", ".damaged", ".recover", ".tmp", ".new-", ".part",
}

// otherSuffixes are the files that append one of them to the name of something else.
var otherSuffixes = map[string]string{
	"robotmem/backup/backup.go":             "the lock of a folder of backups",
	"robotmem/agent/model/ledger.go":        "the ledger of language models",
	"robotmem/mcp/clients/file.go":          "settings of an MCP client",
	"cmd/robotmem/internal/whole/whole.go":  "a file that a command writes for its user",
	"perception/importers/file.go":          "a database of another program",
	"robotmem/internal/torture/kill.go":     "what a killed restore left, looked for from outside",
	"perception/importers/recording/db3.go": "a database of another program",
}

// topLevel is fixed by the customer, plus the usual files.
var topLevel = []string{"cmd", "robotmem", "perception", "classify", "consolidate", "web", "ui", "examples", "docs", "changelog"}

// The files are read here, not by a "go list" child: go test caches by the
// files the test itself opens, and would stay green after a child's change.
func imports(t *testing.T) map[string][]string {
	t.Helper()
	found := map[string][]string{}
	err := goFiles(func(p string) error {
		f, err := parser.ParseFile(token.NewFileSet(), p, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		dir := path.Dir(p)
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

// goFiles calls f with the path of each Go file of the program, with slashes.
func goFiles(f func(p string) error) error {
	return filepath.WalkDir(".", func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && p != "." && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata" || d.Name() == "node_modules") {
			return filepath.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(p, ".go") || strings.HasSuffix(p, "_test.go") {
			return nil
		}
		return f(filepath.ToSlash(p))
	})
}

func within(dir, folder string) bool {
	return dir == folder || folder != "" && strings.HasPrefix(dir, folder+"/")
}

func TestArrows(t *testing.T) {
	for dir, deps := range imports(t) {
		at := -1
		for i, a := range arrows {
			if within(dir, a.from) && (at < 0 || len(a.from) > len(arrows[at].from)) {
				at = i
			}
		}
		if at < 0 {
			continue // cmd, examples and test programs wire everything
		}
		a := arrows[at]
		if a.from == "robotmem" && dir != "robotmem" {
			continue // test programs
		}
		for _, dep := range deps {
			in, ours := strings.CutPrefix(dep+"/", module)
			in = strings.TrimSuffix(in, "/")
			if !ours || within(in, a.from) && a.from != "robotmem" {
				continue
			}
			if slices.Contains(domain, in) {
				in = "robotmem"
			}
			// "robotmem" allows the domain alone, any other folder all below it.
			allowed := func(may string) bool {
				alone, only := strings.CutSuffix(may, "/.")
				return in == alone || !only && may != "robotmem" && within(in, may)
			}
			if in != a.from && !slices.ContainsFunc(a.may, allowed) {
				t.Errorf("%s imports %s: %s", dir, in, a.why)
			}
		}
	}
}

// Users of the module cannot name internal types. An exported signature, field or constant of a public
// package with one in it could not be used, and would show how the module is made.
func TestNothingInternalIsExported(t *testing.T) {
	seen := 0
	err := goFiles(func(p string) error {
		if !strings.HasPrefix(p, "robotmem/") || strings.Contains(p, "/internal/") {
			return nil
		}
		fset := token.NewFileSet()
		f, err := parser.ParseFile(fset, p, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}

		internal := map[string]bool{}
		for _, i := range f.Imports {
			name := strings.Trim(i.Path.Value, `"`)
			if !strings.Contains(name, "/internal/") {
				continue
			}
			short := path.Base(name)
			if i.Name != nil {
				short = i.Name.Name
			}
			internal[short] = true
		}

		// An exported function has its parameters, an exported type its exported fields.
		for _, shown := range exported(f) {
			seen++
			ast.Inspect(shown, func(n ast.Node) bool {
				if sel, ok := n.(*ast.SelectorExpr); ok {
					if pkg, ok := sel.X.(*ast.Ident); ok && internal[pkg.Name] {
						t.Errorf("%s shows %s.%s", fset.Position(sel.Pos()), pkg.Name, sel.Sel.Name)
					}
				}
				return true
			})
		}

		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if seen < 500 {
		t.Fatalf("only %d declarations found: the test looks in the wrong place", seen)
	}
}

// exported returns what a user sees of the declarations of a file.
func exported(f *ast.File) (shown []ast.Node) {
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Name.IsExported() && (d.Recv == nil || exportedReceiver(d.Recv)) {
				shown = append(shown, d.Type)
			}
		case *ast.GenDecl:
			for _, s := range d.Specs {
				switch s := s.(type) {
				case *ast.TypeSpec:
					if s.Name.IsExported() {
						shown = append(shown, fieldsOf(s.Type)...)
					}
				case *ast.ValueSpec:
					if slices.ContainsFunc(s.Names, func(n *ast.Ident) bool { return n.IsExported() }) {
						shown = append(shown, s)
					}
				}
			}
		}
	}

	return shown
}

func exportedReceiver(r *ast.FieldList) bool {
	of := r.List[0].Type
	if star, ok := of.(*ast.StarExpr); ok {
		of = star.X
	}
	id, ok := of.(*ast.Ident)

	return ok && id.IsExported()
}

// fieldsOf returns the exported fields of a struct, or another type as a whole.
func fieldsOf(t ast.Expr) (fields []ast.Node) {
	s, ok := t.(*ast.StructType)
	if !ok {
		return []ast.Node{t}
	}
	for _, f := range s.Fields.List {
		if len(f.Names) == 0 || slices.ContainsFunc(f.Names, func(n *ast.Ident) bool { return n.IsExported() }) {
			fields = append(fields, f.Type)
		}
	}

	return fields
}

func TestPureFoldersDoNoIO(t *testing.T) {
	for dir, deps := range imports(t) {
		if !slices.Contains(pure, dir) {
			continue
		}
		for _, dep := range deps {
			if slices.ContainsFunc(banned, func(b string) bool { return within(dep, b) }) {
				t.Errorf("%s imports %s, and does no I/O", dir, dep)
			}
		}
	}
}

func TestLibrariesHaveOneOwner(t *testing.T) {
	for dir, deps := range imports(t) {
		for _, dep := range deps {
			for lib, allowed := range owners {
				if within(dep, lib) && !slices.Contains(allowed, dir) {
					t.Errorf("%s imports %s, which is for %s alone", dir, dep, strings.Join(allowed, ", "))
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

// A link, a copy or a restored memory has its payloads, log and tokens where one package says.
func TestOnePackageNamesTheFilesOfAMemory(t *testing.T) {
	const owner = "robotmem/internal/files"
	seen := 0
	err := goFiles(func(p string) error {
		f, err := parser.ParseFile(token.NewFileSet(), p, nil, 0)
		if err != nil {
			return err
		}
		if otherSuffixes[p] != "" {
			return nil
		}
		ast.Inspect(f, func(n ast.Node) bool {
			lit, ok := n.(*ast.BasicLit)
			if !ok || lit.Kind != token.STRING {
				return true
			}
			text, err := strconv.Unquote(lit.Value)
			if err != nil || !appended.MatchString(text) {
				return true
			}
			if seen++; path.Dir(p) != owner {
				t.Errorf("%s has %s: the paths of a memory come from %s alone", p, lit.Value, owner)
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if seen < len(memorySuffixes)-2 {
		t.Errorf("%s has only %d of the suffixes: the test looks for the wrong ones", owner, seen)
	}
}

// foreign are the folders whose packages read files that other programs wrote.
var foreign = []string{"perception/", "robotmem/agent/", "robotmem/archive/", "robotmem/imports/"}

// ownFiles are files and folders there that open what this program wrote, and why.
var ownFiles = map[string]string{
	"perception/importers/file.go":        "the one place",
	"perception/importers/importerstest/": "a helper of tests",
	"perception/payload/":                 "payloads of the memory",
	"robotmem/agent/journal.go":           "journals of conversations",
	"robotmem/agent/model/ledger.go":      "the ledger of language models",
	"robotmem/agent/workers/done.go":      "what dreams have looked at",
	"robotmem/archive/jsonl/state.go":     "the state of an import",
	"robotmem/imports/receive.go":         "makes the files that it receives",
}

// A pipe under the name of a foreign file blocks whoever opens it, so these files are opened in one place.
func TestForeignFilesAreOpenedInOnePlace(t *testing.T) {
	seen := 0
	begins := func(p string) func(string) bool {
		return func(prefix string) bool { return strings.HasPrefix(p, prefix) }
	}
	err := goFiles(func(p string) error {
		if !slices.ContainsFunc(foreign, begins(p)) {
			return nil
		}
		f, err := parser.ParseFile(token.NewFileSet(), p, nil, 0)
		if err != nil {
			return err
		}
		own := slices.ContainsFunc(slices.Collect(maps.Keys(ownFiles)), begins(p))
		ast.Inspect(f, func(n ast.Node) bool {
			call, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			if pkg, ok := call.X.(*ast.Ident); !ok || pkg.Name != "os" || !slices.Contains([]string{"Open", "OpenFile", "ReadFile"}, call.Sel.Name) {
				return true
			}
			if seen++; !own {
				t.Errorf("%s calls os.%s: it hangs if the name stands for a pipe; call importers.Open", p, call.Sel.Name)
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if seen < len(ownFiles) {
		t.Errorf("%d calls are found: the test looks for the wrong ones", seen)
	}
}

// appended finds a literal that is a suffix, or a format that puts one after a name. Prose about "the log
// (-wal)" is neither.
var appended = func() *regexp.Regexp {
	var quoted []string
	for _, suffix := range memorySuffixes {
		quoted = append(quoted, regexp.QuoteMeta(suffix))
	}
	return regexp.MustCompile(`(^|%(\[\d+\])?[sqv])(` + strings.Join(quoted, "|") + ")")
}()

func TestSuffixesAreFound(t *testing.T) {
	for text, want := range map[string]bool{
		"-wal": true, ".payloads": true, ".before-restore-": true, "%s.tokens": true, "cp %[1]s %[2]s.tokens": true, "mv %q-wal x": true, ".fleet.lock": true,
		"": false, "the log (-wal) of the file": false, "payloads": false, ".json": false, "a.tokens of": false,
	} {
		if got := appended.MatchString(text); got != want {
			t.Errorf("%q: got %v, want %v", text, got, want)
		}
	}
}
