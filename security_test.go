package taxonomy_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// named is a test as the pages name it: `robotmem/mcp.TestX`.
var named = regexp.MustCompile("`([a-z/_0-9]*)\\.?(Test[A-Z][A-Za-z0-9_]*)`")

// A threat or a promise whose test is gone is no longer kept: every test that a page names exists, in the
// package that it names.
func TestPagesNameTestsThatExist(t *testing.T) {
	have := tests(t)
	found := map[string]int{}
	textFiles(t, ".md", func(page, content string) {
		if !strings.HasPrefix(page, "docs/") {
			return
		}
		for _, m := range named.FindAllStringSubmatch(content, -1) {
			found[page]++
			if !have[m[1]+"."+m[2]] {
				t.Errorf("%s names %s, which does not exist in %q", page, m[2], m[1])
			}
		}
	})

	for _, page := range []string{"docs/reference/security.md", "docs/reference/durability.md"} {
		if found[page] < 10 {
			t.Errorf("%s names %d tests: its form has changed", page, found[page])
		}
	}
}

// tests are all test functions of the module, as "robotmem/mcp.TestX", and without a package as ".TestX".
func tests(t *testing.T) map[string]bool {
	t.Helper()
	out := map[string]bool{}
	err := filepath.WalkDir(".", func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && p != "." && (d.Name() == "node_modules" || d.Name() == "testdata" || d.Name() == ".git") {
			return filepath.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(p, "_test.go") {
			return nil
		}
		f, err := parser.ParseFile(token.NewFileSet(), p, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, decl := range f.Decls {
			if fn, ok := decl.(*ast.FuncDecl); ok && fn.Recv == nil && strings.HasPrefix(fn.Name.Name, "Test") {
				out[path.Dir(filepath.ToSlash(p))+"."+fn.Name.Name] = true
				out["."+fn.Name.Name] = true
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}
