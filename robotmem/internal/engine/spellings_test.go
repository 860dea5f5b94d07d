package engine

import (
	"testing"

	"github.com/robotmem/robotmem-go/robotmem"
)

// Keyboards and writers spell one word in several ways.
func TestSpellingsOfOneWordAreFound(t *testing.T) {
	t.Parallel()
	e := openTest(t, Options{})
	for _, insight := range []string{
		"Straße vor dem Lager", "Łódź magazyn", "Ørsted dock", "ıslak zemin", "ΟΔΟΣ κλειστή", "ЁЛКА упала", "battery 🔋 low",
		"part AX-12 broke", "parts 12 and AX listed in 12 lines, AX AX 12", "C++ bindings leak memory", "C# bindings leak memory",
	} {
		learnWith(t, e, insight, nil)
	}
	for query, want := range map[string]int64{
		"STRASSE": 1, "lodz": 2, "orsted": 3, "ISLAK": 4, "οδός": 5, "елка": 6, "🔋": 7,
		"AX12": 8, "ax_12": 8, "C++ bindings": 10, "C# bindings": 11,
	} {
		res, err := e.Recall(t.Context(), &robotmem.RecallRequest{Query: query})
		if err != nil || len(res.Memories) == 0 || res.Memories[0].MemoryID != want {
			t.Errorf("%q finds %v (%v), want memory %d first", query, idsOf(res.Memories), err, want)
		}
	}

	// Composed and decomposed characters, thousands and full-width digits of filters.
	const id = 12
	learnWith(t, e, "the gripper holds", robotmem.Object{"robot": map[string]any{"id": "Gro\u0308\u00dfe"}, "params": map[string]any{"force": "1500 N"}})
	for _, filter := range []robotmem.Object{{"robot.id": "Gr\u00f6\u00dfe"}, {"params.force": "1,500 N"}, {"params.force": "１５００ N"}} {
		res, err := e.Recall(t.Context(), &robotmem.RecallRequest{ContextFilter: filter})
		if err != nil || len(res.Memories) != 1 || res.Memories[0].MemoryID != id {
			t.Errorf("%v finds %v (%v), want memory %d", filter, idsOf(res.Memories), err, id)
		}
	}
}
