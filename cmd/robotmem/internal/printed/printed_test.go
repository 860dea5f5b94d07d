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

func TestSharesHaveThreeDigits(t *testing.T) {
	type answer struct {
		Confidence float64 `json:"confidence"`
		X          float64 `json:"x"`
		List       []struct {
			Confidence float64  `json:"confidence"`
			Score      *float64 `json:"score"`
		} `json:"list"`
	}
	a := answer{Confidence: 0.799992, X: 52.52001, List: make([]struct {
		Confidence float64  `json:"confidence"`
		Score      *float64 `json:"score"`
	}, 1)}
	a.List[0].Confidence = 0.849991
	a.List[0].Score = new(0.999999)
	var out strings.Builder
	To(&out, screen.Screen{}).Fields(reflect.ValueOf(a), "")
	got := strings.Join(strings.Fields(out.String()), " ")
	if want := "confidence: 0.8 x: 52.52 list: CONFIDENCE SCORE 0.85 1"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
