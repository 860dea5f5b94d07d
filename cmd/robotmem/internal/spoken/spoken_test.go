package spoken_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/robotmem/robotmem-go/cmd/robotmem/internal/spoken"
	"github.com/robotmem/robotmem-go/robotmem"
)

func TestErrorsNameCommandsAndFlags(t *testing.T) {
	ops := map[string]*robotmem.Op{}
	for _, op := range robotmem.Ops() {
		ops[op.Name] = op
	}

	of := func(op, field string) error {
		return robotmem.Wrap(op, robotmem.Errorf(robotmem.Invalid, field, "is wrong"))
	}
	for _, tt := range []struct {
		op   string
		err  error
		want string
	}{
		{"recall", of("recall", "min_confidence"), "recall: --min-confidence: is wrong"},
		{"recall", of("recall", "context_filter"), "recall: --where: is wrong"},
		{"recall", of("recall", "context_filter.a"), "recall: --where at a: is wrong"},
		{"learn", of("learn", "context.params.force"), "learn: --context at params.force: is wrong"},
		{"learn", of("learn", "tags[0]"), "learn: --tags at [0]: is wrong"},
		{"learn", of("learn", "collection"), "learn: --collection: is wrong"},
		{"learn", of("learn", ""), "learn: is wrong"},
		{"learn", of("learn", "depth"), "learn: depth: is wrong"},
		{"get", of("get", "memory_id"), "get: <memory-id>: is wrong"},
		{"save_perception", of("save_perception", "file"), "save-perception: --file: is wrong"},
		{"session_memories", of("session_memories", "session_id"), "session show: <session-id>: is wrong"},
		{"learn", of("open", "db"), "open: db: is wrong"},
		{"learn", errors.New("is wrong"), "is wrong"},
		{"learn", fmt.Errorf("batch: %w", of("learn", "insight")), "batch: learn: <insight>: is wrong"},
		{"none", of("learn", "insight"), "learn: insight: is wrong"},
	} {
		if got := spoken.Error(ops[tt.op], tt.err, true); got != tt.want {
			t.Errorf("%v: got %q, want %q", tt.err, got, tt.want)
		}
	}
}
