package web

import (
	"slices"
	"strings"

	"github.com/robotmem/robotmem-go/robotmem"
)

// group is a chapter of the description.
type group struct {
	name, doc string
	has       func(op *robotmem.Op) bool
}

// groups are in the order in which a reader meets them; an operation belongs to
// the first that has it, and the last has all that is left.
var groups = []group{
	{"Learning", "Write down what was done and what came of it.", under("/api/learn", "/api/perceptions")},
	{"Recalling", "Find what is known before acting.", under("/api/recall", "/api/search", "/api/recent-failures")},
	{"Perceptions", "What a sensor gave: its bytes, its picture, its numbers.", ends("/data", "/preview", "/samples")},
	{"Memories", "One memory, or all of them: read, correct, take back.", under("/api/memory", "/api/memories")},
	{"Episodes", "What belongs together because it was lived together.", under("/api/sessions")},
	{"Contents", "What there is to find: collections, categories, paths and places.", under("/api/collections", "/api/categories", "/api/paths", "/api/places")},
	{"Node", "The node itself: figures, health, upkeep.", under("/")},
}

func groupOf(op *robotmem.Op) group {
	i := slices.IndexFunc(groups, func(g group) bool { return g.has(op) })
	return groups[i]
}

// under has the routes below one of the paths.
func under(paths ...string) func(*robotmem.Op) bool {
	return func(op *robotmem.Op) bool {
		return slices.ContainsFunc(paths, func(p string) bool {
			return op.Path() == p || strings.HasPrefix(op.Path(), strings.TrimSuffix(p, "/")+"/")
		})
	}
}

func ends(suffixes ...string) func(*robotmem.Op) bool {
	return func(op *robotmem.Op) bool {
		return slices.ContainsFunc(suffixes, func(s string) bool { return strings.HasSuffix(op.Path(), s) })
	}
}

func tags() []any {
	var out []any
	for _, g := range groups {
		out = append(out, object{"name": g.name, "description": g.doc})
	}
	return append(out, object{"name": accessTag, "description": "Who asks, and what happens meanwhile."})
}
