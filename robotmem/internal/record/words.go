package record

import (
	"maps"
	"slices"
	"strings"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/text"
)

const (
	maxContextText  = 256 // bytes of a text of a context that is searched by words
	maxContextStems = 64  // of one memory
)

// ContextStems returns the stems of the texts in a context and of the names of flags that are true, sorted
// and each once, without stop words and numbers. A search by words finds them as it finds words of the text.
func ContextStems(context robotmem.Object) []string {
	var out []string
	add := func(s string) {
		for _, t := range text.Terms(s) {
			if !text.Stop(t) && strings.Trim(t, "0123456789.:-/") != "" {
				out = append(out, text.Stem(t))
			}
		}
	}

	var walk func(key string, v any)
	walk = func(key string, v any) {
		// Some of the stems are equal, so more than the limit are collected.
		if len(out) >= 4*maxContextStems {
			return
		}

		switch v := v.(type) {
		case string:
			if len(v) <= maxContextText {
				add(v)
			}
		case bool:
			if v && !slices.Contains(flagsOfOutcome, key) {
				add(strings.ReplaceAll(key, "_", " "))
			}
		case map[string]any:
			for _, k := range slices.Sorted(maps.Keys(v)) {
				walk(k, v[k])
			}
		case []any:
			for _, item := range v {
				walk(key, item)
			}
		}
	}
	// The recursion is bounded, because a context is at most 32 levels deep.
	walk("", map[string]any(context))
	out = Distinct(out)

	return out[:min(len(out), maxContextStems)]
}

// flagsOfOutcome are flags that state an outcome and not what a memory is about.
var flagsOfOutcome = []string{"success", "succeeded", "failed", "completed", "aborted"}
