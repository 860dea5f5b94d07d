package taxonomy_test

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
)

var (
	fence    = regexp.MustCompile("(?ms)^ *(```|~~~).*?^ *(```|~~~) *$")
	codeSpan = regexp.MustCompile("`[^`\n]*`")
	heading  = regexp.MustCompile(`(?m)^#{1,6} +(.*?) *$`)
	// linked is a Markdown link or picture: [text](target "title").
	linked = regexp.MustCompile(`\]\(([^)\s]+)(?: "[^"]*")?\)`)
	// mentioned is a path below docs in a comment, a help text or prose, but not in a URL.
	mentioned = regexp.MustCompile(`(?:^|[^\w/.-])(docs/[\w/.-]*\w)`)
)

// withoutPages are folders that hold no text of ours.
var withoutPages = []string{".git", "node_modules", "dist", "testdata", "bin", "artifacts", "__pycache__"}

// textFiles calls f with the path and the content of each file of the tree with one of these extensions.
func textFiles(t *testing.T, extensions string, f func(p, content string)) {
	t.Helper()

	err := filepath.WalkDir(".", func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if d.IsDir() {
			if slices.Contains(withoutPages, name) {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.Contains(extensions+" ", path.Ext(name)+" ") || !d.Type().IsRegular() {
			return nil
		}

		data, err := os.ReadFile(p)
		if err != nil {
			return err
		}
		f(filepath.ToSlash(p), string(data))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// anchors are the fragments of the headings of a Markdown page, as GitHub forms them.
func anchors(page string) map[string]bool {
	out := map[string]bool{}
	for _, m := range heading.FindAllStringSubmatch(fence.ReplaceAllString(page, ""), -1) {
		name := strings.Map(func(r rune) rune {
			switch {
			case r == ' ' || r == '-':
				return '-'
			case r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
				return unicode.ToLower(r)
			}
			return -1
		}, m[1])

		unique := name
		for n := 1; out[unique]; n++ {
			unique = fmt.Sprintf("%s-%d", name, n)
		}
		out[unique] = true
	}

	return out
}

func TestAnchorsAreThoseOfGitHub(t *testing.T) {
	page := "# The `node`, over HTTP\n## Limits\n```\n# no heading\n```\n## Limits\n### What is _not_ safe\n"
	for name, want := range map[string]bool{
		"the-node-over-http": true, "limits": true, "limits-1": true, "what-is-_not_-safe": true,
		"no-heading": false, "limits-2": false,
	} {
		if got := anchors(page)[name]; got != want {
			t.Errorf("%s: got %v, want %v", name, got, want)
		}
	}
}

// Every relative link of a Markdown page leads to a file of the tree, and its fragment to a heading there.
func TestLinksOfPagesExist(t *testing.T) {
	pages := map[string]string{}
	textFiles(t, ".md", func(p, content string) { pages[p] = content })

	links := 0
	for page, content := range pages {
		prose := codeSpan.ReplaceAllString(fence.ReplaceAllString(content, ""), "")
		for _, m := range linked.FindAllStringSubmatch(prose, -1) {
			if strings.Contains(m[1], "://") || strings.HasPrefix(m[1], "mailto:") {
				continue // another site
			}

			links++
			file, fragment, _ := strings.Cut(m[1], "#")
			target := page
			if file != "" {
				target = path.Join(path.Dir(page), file)
			}
			if _, err := os.Stat(target); err != nil {
				t.Errorf("%s links to %s: there is no %s", page, m[1], target)
				continue
			}
			if fragment != "" && !anchors(pages[target])[fragment] {
				t.Errorf("%s links to %s: %s has no heading #%s", page, m[1], target, fragment)
			}
		}
	}
	if links < 100 {
		t.Errorf("found %d links: the form of links has changed", links)
	}
}

// A merge leaves no marks of a conflict in a page.
func TestPagesHaveNoConflictMarks(t *testing.T) {
	marks := regexp.MustCompile(`(?m)^(<{7}|>{7}) `)
	pages := 0
	textFiles(t, ".md .yaml .txt .json", func(p, content string) {
		pages++
		if at := marks.FindString(content); at != "" {
			t.Errorf("%s has a line that begins with %q", p, at)
		}
	})
	if pages < 100 {
		t.Errorf("looked at %d pages only", pages)
	}
}

// A comment, a help text or an error that names a page of docs names one that exists.
func TestMentionedPagesExist(t *testing.T) {
	mentions := 0
	textFiles(t, ".md .go .py .ts .tsx .sh .yaml .yml .toml .txt .mjs", func(p, content string) {
		for _, m := range mentioned.FindAllStringSubmatch(content, -1) {
			mentions++
			if _, err := os.Stat(m[1]); err != nil && !strings.Contains(m[1], "NNNN") {
				t.Errorf("%s names %s, which does not exist", p, m[1])
			}
		}
	})
	if mentions < 20 {
		t.Errorf("found %d mentions: the form of paths has changed", mentions)
	}
}

// Every page of docs is in the index.
func TestEveryPageIsInTheIndex(t *testing.T) {
	index, err := os.ReadFile("docs/README.md")
	if err != nil {
		t.Fatal(err)
	}

	listed := map[string]bool{"docs/README.md": true}
	for _, m := range linked.FindAllStringSubmatch(string(index), -1) {
		listed[path.Join("docs", m[1])] = true
	}
	textFiles(t, ".md", func(p, _ string) {
		if strings.HasPrefix(p, "docs/") && !listed[p] {
			t.Errorf("docs/README.md does not list %s", p)
		}
	})
}

// A symptom of the page for trouble is a text of the program: an error that was reworded changes the page too.
func TestSymptomsAreTextsOfTheProgram(t *testing.T) {
	page, err := os.ReadFile("docs/how-to/troubleshoot.md")
	if err != nil {
		t.Fatal(err)
	}
	var source strings.Builder
	textFiles(t, ".go", func(p, content string) {
		if !strings.HasSuffix(p, "_test.go") {
			source.WriteString(content)
		}
	})
	joined := regexp.MustCompile(`"\s*\+\s*"`).ReplaceAllString(source.String(), "")
	program := strings.ReplaceAll(joined, "`", "")

	symptoms := 0
	for _, row := range regexp.MustCompile("(?m)^\\| ([^|]*`[^|]*) \\|").FindAllStringSubmatch(string(page), -1) {
		for _, span := range codeSpan.FindAllString(row[1], -1) {
			for part := range strings.SplitSeq(strings.Trim(span, "`"), "…") {
				if part = strings.Trim(part, " ;,:?"); part == "" {
					continue
				}
				symptoms++
				if !strings.Contains(program, part) {
					t.Errorf("docs/how-to/troubleshoot.md: no text of the program has %q", part)
				}
			}
		}
	}
	if symptoms < 40 {
		t.Errorf("found %d symptoms: the form of the page has changed", symptoms)
	}
}

// Every version of the schema is in the table of versions.
func TestEverySchemaVersionIsListed(t *testing.T) {
	page, err := os.ReadFile("docs/reference/versions.md")
	if err != nil {
		t.Fatal(err)
	}
	scripts, err := filepath.Glob("robotmem/internal/store/sqlite/migrations/*.sql")
	if err != nil || len(scripts) == 0 {
		t.Fatal(scripts, err)
	}

	for i := range scripts {
		if !strings.Contains(string(page), fmt.Sprintf("\n| %d | ", i+1)) {
			t.Errorf("docs/reference/versions.md has no row of version %d", i+1)
		}
	}
}

// Every module that go.mod requires directly has a line that says why, and no other has one.
func TestEveryDependencyIsExplained(t *testing.T) {
	mod, err := os.ReadFile("go.mod")
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile("docs/reference/dependencies.md")
	if err != nil {
		t.Fatal(err)
	}

	required := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^(?:require )?\t?(\S+\.\S+/\S+) v\S+$`).FindAllSubmatch(mod, -1) {
		required[string(m[1])] = true
	}
	if len(required) < 30 {
		t.Fatalf("go.mod requires %d modules directly: its form has changed", len(required))
	}

	for _, m := range regexp.MustCompile("(?m)^\\| `(\\S+/\\S+)` \\|.*[^ ] \\|.*[^ ] \\|.*[^ ] \\|$").FindAllSubmatch(page, -1) {
		if name := string(m[1]); !required[name] {
			t.Errorf("docs/reference/dependencies.md has a line of %s, which go.mod does not require directly", name)
		} else {
			delete(required, name)
		}
	}
	for name := range required {
		t.Errorf("docs/reference/dependencies.md has no line of %s with why, state and alternative", name)
	}
}

// The tree of the architecture has every package, by its path or by its last name beside another one.
func TestEveryPackageIsInTheTree(t *testing.T) {
	page, err := os.ReadFile("docs/explanation/architecture.md")
	if err != nil {
		t.Fatal(err)
	}

	for dir := range imports(t) {
		example := strings.HasPrefix(dir, "examples/") || strings.HasPrefix(path.Base(dir), "_")
		helper := strings.HasSuffix(dir, "test") || strings.Contains(dir, "test/")
		if dir == "." || example || helper {
			continue
		}
		if text := string(page); !strings.Contains(text, "`"+dir+"`") && !strings.Contains(text, "`"+path.Base(dir)+"`") {
			t.Errorf("the tree of docs/explanation/architecture.md lacks %s", dir)
		}
	}
}
