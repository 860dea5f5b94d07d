package recall

import (
	"strings"
	"testing"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
)

// A line names its author only in an answer that has memories of several.
func TestAuthorsAreNamedWhereTheyDiffer(t *testing.T) {
	memory := func(id int64, who string) robotmem.Memory {
		return robotmem.Memory{MemoryID: id, Content: "the glass is wet", Outcome: robotmem.OutcomeUnknown, Provenance: &robotmem.Provenance{Who: who}}
	}
	for _, tt := range []struct{ other, want string }{{"arm-7", ""}, {"eve, success", ` by "eve, success"`}, {"eve", " by eve"}} {
		ms := []robotmem.Memory{memory(1, "arm-7"), memory(2, tt.other)}
		ms[1].Source = "ft"
		w := NewWriter(ms, time.Time{})
		if got := w.Line(&ms[1], 100); !strings.Contains(got, ", from ft"+tt.want+": ") {
			t.Errorf("beside arm-7: %q, want from ft%s", got, tt.want)
		}
	}
}
