package printed

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/robotmem/robotmem-go/cmd/robotmem/internal/screen"
)

// A table of an answer is printed up to a number of rows, and says how many more there are.
func TestLongTablesAreCut(t *testing.T) {
	type topic struct {
		Name string `json:"name"`
	}
	type account struct {
		Topics []topic `json:"topics"`
	}
	for _, n := range []int{maxRows, maxRows + 7} {
		var a account
		for i := range n {
			a.Topics = append(a.Topics, topic{fmt.Sprintf("/t%d", i)})
		}
		var out strings.Builder
		l := To(&out, screen.Screen{})
		l.Fields(reflect.ValueOf(a), "")
		if l.Err() != nil {
			t.Fatal(l.Err())
		}
		if got := strings.Count(out.String(), "/t"); got != maxRows {
			t.Errorf("%d topics: %d are printed, want %d", n, got, maxRows)
		}
		if cut := strings.Contains(out.String(), "… and 7 more; --json prints all"); cut != (n > maxRows) {
			t.Errorf("%d topics: the last lines are %q", n, out.String()[out.Len()-60:])
		}
	}
}
