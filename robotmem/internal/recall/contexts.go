package recall

import (
	"slices"
	"strings"

	"github.com/robotmem/robotmem-go/robotmem"
)

// CompareContexts counts the texts and flags that two contexts share and that differ, and the numbers and
// coordinates that differ.
func CompareContexts(a, b robotmem.Object) (same, differ, values int) {
	return compareLeaves(leaves(a), leaves(b))
}

func compareLeaves(x, y map[string]string) (same, differ, values int) {
	for path, v := range x {
		w, ok := y[path]
		switch {
		case !ok, slices.Contains(versions, path[strings.LastIndexByte(path, '.')+1:]):
		case v == w && IsText(v):
			same++
		case v != w && IsText(v) && IsText(w):
			differ++
		case v != w:
			values++
		}
	}

	return same, differ, values
}

// versions are keys whose values may change while the memories are still about the same subject.
var versions = []string{"map", "map_id", "firmware", "version", "fw", "status", "result", "outcome"}

// TextLeaves returns the texts, numbers and lists of a context by path, without flags, in lower case.
func TextLeaves(context robotmem.Object) map[string]string { return leaves(context) }

// leaves returns the texts, numbers and lists of a context by path, without flags.
func leaves(context robotmem.Object) map[string]string {
	out := map[string]string{}

	for _, l := range Leaves("", map[string]any(context)) {
		if l.Value != "true" && l.Value != "false" {
			out[l.Path] = strings.ToLower(l.Value)
		}
	}

	return out
}
