package eval_test

import (
	"testing"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/eval"
)

func TestOwnSetAsksEachMemoryInItsCollection(t *testing.T) {
	set := eval.OwnSet([]robotmem.Memory{{MemoryID: 7, Collection: "hall", Content: "the gripper slips on wet glass when it is cold in the hall"}, {MemoryID: 8, Collection: "hall", Content: "short"}}, 1)
	if len(set.Docs) != 2 || len(set.Queries) != 1 || set.Queries[0].Meta["conv"] != "hall" || set.Judged["7"]["7"] != 1 {
		t.Errorf("got %+v", set)
	}
}
