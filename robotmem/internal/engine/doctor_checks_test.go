package engine

import (
	"context"
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ncruces/go-sqlite3"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/admin"
	"github.com/robotmem/robotmem-go/robotmem/internal/disk"
	"github.com/robotmem/robotmem-go/robotmem/internal/keys"
	"github.com/robotmem/robotmem-go/robotmem/internal/maintenance"
)

// patient is a memory that a test breaks. Its doctor runs in a process that has opened it before.
type patient struct {
	*Engine
	t *testing.T
}

// sql changes the file as another program does, behind the back of the node.
func (p patient) sql(statements ...string) {
	p.t.Helper()
	db, err := sqlite3.Open(p.Store.Path())
	if err != nil {
		p.t.Fatal(err)
	}
	for _, s := range append([]string{"PRAGMA busy_timeout=5000; PRAGMA foreign_keys=OFF"}, statements...) {
		err = errors.Join(err, db.Exec(s))
	}
	if err := errors.Join(err, db.Close()); err != nil {
		p.t.Fatal(err)
	}
}

// noSpace is a disk that is nearly full.
type noSpace struct{ disk.System }

func (noSpace) FreeBytes(string) (int64, error) { return 1 << 20, nil }

// silent is a reranker that does not answer.
type silent struct{}

func (silent) Rerank(context.Context, string, []string) ([]float64, error) {
	return nil, errors.New("no answer")
}

func (silent) State() robotmem.RerankerState { return robotmem.RerankerState{Model: "silent"} }

// ailments break the state that each check examines.
var ailments = map[string]struct {
	options func(*Options) // of the node that examines it
	deep    bool
	status  string // warn, or fail if empty
	spoil   func(p patient)
}{
	"file": {spoil: func(p patient) { clearIndexPage(p.t, p.Store.Path()) }},
	"encryption": {status: maintenance.CheckWarn, spoil: func(p patient) {
		text, _, err := keys.New()
		p.must(err)
		id, err := keys.Parse(text)
		p.must(err)
		// The payloads were stored without keys.
		p.Store.Keys, err = keys.Make(id, nil)
		p.must(err)
	}},
	"permissions": {status: "warn", spoil: func(p patient) { p.must(os.Chmod(p.Store.Files().DB(), 0o644)) }},
	"writing":     {spoil: func(p patient) { p.must(os.Rename(p.Store.Path(), p.Store.Path()+".moved")) }},
	"log": {status: "warn", spoil: func(p patient) {
		db, err := sqlite3.Open(p.Store.Path())
		p.must(err)
		p.t.Cleanup(func() { _ = db.Close() })
		p.must(db.Exec("BEGIN; SELECT count(*) FROM memories"))
		learnAll(p.t, p.Engine, "the door of the dock was open")
	}},
	"texts":                {deep: true, spoil: func(p patient) { p.sql("UPDATE memories SET human_summary = 'not what was stored' WHERE id = 1") }},
	"full-text index":      {spoil: func(p patient) { p.sql("DELETE FROM memories_fts_content WHERE id = 1") }},
	"duplicate signatures": {spoil: func(p patient) { p.sql("DELETE FROM signatures WHERE memory_id = 1") }},
	"tags":                 {spoil: func(p patient) { p.sql("INSERT INTO memory_tags VALUES (4711, 'of nothing', 'user')") }},
	"index contents":       {spoil: func(p patient) { p.sql("UPDATE signatures SET numbers = 1, skeleton = 1, sketch_a = 0") }},
	"indexes in memory": {spoil: func(p patient) {
		p.index.Drop()
		p.sql("ALTER TABLE memories RENAME COLUMN scope_files TO gone")
	}},
	"index of words in memory": {spoil: func(p patient) { p.sql("UPDATE memories SET status = 'invalidated' WHERE id = 1") }},
	"payloads": {spoil: func(p patient) {
		p.must(os.RemoveAll(p.Store.Files().Payloads()))
		p.must(os.Mkdir(p.Store.Files().Payloads(), 0o700))
	}},
	"likeness": {status: "warn", spoil: func(p patient) { p.sql("DELETE FROM features") }},
	"backup": {status: "warn", spoil: func(p patient) {
		id, err := p.Store.FileID(p.t.Context())
		p.must(err)
		data, err := json.Marshal(admin.BackupState{FileID: id, To: "/mnt/usb", EverySeconds: 3600, Failure: "the disk is gone"})
		p.must(err)
		p.must(os.WriteFile(p.Store.Files().BackupState(), data, 0o600))
	}},
	"zero-hit rate": {status: "warn", spoil: func(p patient) {
		p.sql("INSERT OR REPLACE INTO counters(name, value) VALUES ('recalls', 100), ('zero_hits', 90)")
	}},
	"clock": {status: "warn", spoil: func(p patient) {
		_, err := p.Learn(p.t.Context(), &robotmem.LearnRequest{Insight: "the door of the dock was open", ObservedAt: new(time.Unix(12, 0))})
		p.must(err)
	}},
	"size":     {status: "warn", options: func(o *Options) { o.Disk = noSpace{} }},
	"embedder": {status: "warn", options: func(o *Options) { o.Embedder = nil }},
	"vectors": {spoil: func(p patient) {
		p.sql("UPDATE vectors_1 SET vector = zeroblob(length(vector)) WHERE memory_id = 1")
	}},
	"index of vectors in memory": {spoil: func(p patient) {
		p.sql("INSERT INTO vectors_1 SELECT memory_id + 4711, 0, vector, checksum FROM vectors_1 WHERE memory_id = 1")
	}},
	"reranker": {status: "warn", options: func(o *Options) { o.Reranker = silent{} }},
}

func (p patient) must(err error) {
	p.t.Helper()
	if err != nil {
		p.t.Fatal(err)
	}
}

// Each check of the doctor is red when what it examines is broken, and green before.
func TestEveryCheckFails(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("one goroutine at a time: nothing for -race")
	}
	for name, a := range ailments {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "memory.db")
			o := Options{Embedder: newWordEmbedder("test:words", 64)}
			p := patient{openAt(t, path, o), t}
			learnAll(t, p.Engine, "the gripper slipped on wet glass", "the battery was low in aisle four", "the lidar saw a person")
			_, err := p.SavePerception(t.Context(), &robotmem.SavePerceptionRequest{Description: "a trace", PerceptionType: "tactile", Data: strings.Repeat("t,fx\n1,2\n", 60_000), MediaType: "text/csv"})
			p.must(err)
			embedded(t, p.Engine)
			p.must(p.Warm(t.Context()))
			if c, ok := p.check(name, a.deep); ok && c.Status != maintenance.CheckOK {
				t.Errorf("before: %+v", c)
			}
			if a.options != nil {
				p.must(p.Close())
				a.options(&o)
				p.Engine = openAt(t, path, o)
			}
			if a.spoil != nil {
				a.spoil(p)
			}
			want := a.status
			if want == "" {
				want = maintenance.CheckFail
			}
			c, ok := p.check(name, a.deep)
			if !ok || c.Status != want {
				t.Errorf("got %+v, want %s", c, want)
			}
			if c.Remedy == "" {
				t.Errorf("%+v says not what to do", c)
			}
		})
	}
}

// check returns a check of the doctor. It may be there only when something is wrong.
func (p patient) check(name string, deep bool) (c admin.Check, ok bool) {
	p.t.Helper()
	d, err := p.Doctor(p.t.Context(), &admin.DoctorRequest{Deep: deep})
	if err != nil {
		p.t.Fatal(err)
	}
	for _, c := range d.Checks {
		if _, known := ailments[c.Name]; !known {
			p.t.Errorf("no test breaks what the check %q examines", c.Name)
		}
	}
	i := slices.IndexFunc(d.Checks, func(c admin.Check) bool { return c.Name == name })
	if i < 0 {
		return c, false
	}
	return d.Checks[i], true
}

// The names of all checks, also of those that are there only when something is wrong, are in the sources.
func TestEveryCheckHasATestThatItFails(t *testing.T) {
	sources, err := filepath.Glob("../maintenance/*.go")
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for _, path := range sources {
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(f, func(n ast.Node) bool {
			var at ast.Expr
			switch n := n.(type) {
			case *ast.CallExpr:
				if called := nameOfCall(n); (called == "addCheck" || called == "addFinding" || called == "addFault" || called == "addDamage") && len(n.Args) > 1 {
					at = n.Args[1]
				}
			case *ast.ValueSpec: // const name = "…"
				if id := n.Names[0].Name; (id == "name" || strings.HasSuffix(id, "Check")) && len(n.Values) == 1 {
					at = n.Values[0]
				}
			case *ast.CompositeLit: // indexCheck{"…", …}, without its type in a list
				if last := len(n.Elts) - 1; last == 3 && isBool(n.Elts[last]) {
					at = n.Elts[0]
				}
			}
			if lit, ok := at.(*ast.BasicLit); ok && lit.Kind == token.STRING {
				if text, err := strconv.Unquote(lit.Value); err == nil {
					names[text] = true
				}
			}
			return true
		})
	}
	got, want := slices.Sorted(maps.Keys(ailments)), slices.Sorted(maps.Keys(names))
	if !slices.Equal(got, want) {
		t.Errorf("the tests break\n%q, the checks are\n%q", got, want)
	}
}

func isBool(e ast.Expr) bool {
	id, ok := e.(*ast.Ident)
	return ok && (id.Name == "true" || id.Name == "false")
}

func nameOfCall(c *ast.CallExpr) string {
	switch f := c.Fun.(type) {
	case *ast.Ident:
		return f.Name
	case *ast.SelectorExpr:
		return f.Sel.Name
	}
	return ""
}

// clearIndexPage writes zeros over the root page of an index that no question of the doctor needs.
func clearIndexPage(t *testing.T, path string) {
	t.Helper()
	db, err := sqlite3.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := db.Exec("PRAGMA wal_checkpoint(TRUNCATE)"); err != nil {
		t.Fatal(err)
	}
	number := func(sql string) int64 {
		t.Helper()
		s, _, err := db.Prepare(sql)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		if !s.Step() {
			t.Fatal(sql, s.Err())
		}
		return s.ColumnInt64(0)
	}
	root, size := number("SELECT rootpage FROM sqlite_schema WHERE name = 'idx_outcomes_session'"), number("PRAGMA page_size")
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.WriteAt(make([]byte, size), (root-1)*size)
	if err := errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
}
