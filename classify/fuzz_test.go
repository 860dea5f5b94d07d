package classify_test

import (
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	taxonomy "github.com/robotmem/robotmem-go"
	"github.com/robotmem/robotmem-go/classify"
)

func FuzzClassify(f *testing.F) {
	rules := builtIn(f)
	for _, tt := range categoryTexts {
		for _, text := range slices.Concat(tt.english, tt.chinese, tt.not) {
			f.Add(text, len(text))
		}
	}
	f.Add("`a`` `b c` /x_y/z.go(  foo() \xff\x00 \u0130 \u212a", -1)
	f.Add(strings.Repeat("found... error ", 100), 1<<40)
	known := map[string]bool{}
	for _, tag := range rules.Tags() {
		known[tag.Name] = true
	}
	f.Fuzz(func(t *testing.T, text string, contextLen int) {
		got := rules.Classify(text, contextLen)
		if diff := cmp.Diff(got, rules.Classify(text, contextLen)); diff != "" {
			t.Errorf("a second time (-first +second):\n%s", diff)
		}
		if got.Confidence < 0.80 || got.Confidence > 0.95 {
			t.Errorf("confidence %v", got.Confidence)
		}
		if !slices.Contains(rules.Categories(), got.Category) {
			t.Errorf("category %q", got.Category)
		}
		if !slices.IsSorted(got.Tags) || len(slices.Compact(slices.Clone(got.Tags))) != len(got.Tags) {
			t.Errorf("tags %v", got.Tags)
		}
		for _, tag := range got.Tags {
			if !known[tag] {
				t.Errorf("unknown tag %q", tag)
			}
		}
		for _, names := range [][]string{got.ScopeFiles, got.ScopeEntities} {
			if names == nil || len(names) > 32 {
				t.Errorf("%d names", len(names))
			}
			for _, name := range names {
				if name == "" || !strings.Contains(text, name) {
					t.Errorf("name %q is not in the text", name)
				}
			}
		}
	})
}

// The buffers of a call are reused: calls side by side must not mix.
func TestClassifyIsSafeForConcurrentUse(t *testing.T) {
	rules, err := classify.Parse(taxonomy.YAML)
	if err != nil {
		t.Fatal(err)
	}
	var texts []string
	var want []classify.Result
	for _, tt := range categoryTexts {
		for _, text := range tt.english {
			texts, want = append(texts, text), append(want, rules.Classify(text, 0))
		}
	}
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for i, text := range texts {
				if diff := cmp.Diff(want[i], rules.Classify(text, 0)); diff != "" {
					t.Errorf("%q (-alone +together):\n%s", text, diff)
				}
			}
		})
	}
	group.Wait()
}
