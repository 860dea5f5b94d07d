package main

import (
	"strings"
	"testing"
	"time"

	"github.com/robotmem/robotmem-go/cmd/robotmem/internal/rows"
	"github.com/robotmem/robotmem-go/robotmem"
)

// A tab, a quote and an end of a line stay within their cell.
func TestRowsKeepTheirCells(t *testing.T) {
	half := 0.5
	answer := &robotmem.ListResponse{Memories: []robotmem.Memory{
		{MemoryID: 7, Content: "a\tb\nc\\ \"d\", e", Tags: []string{"x", "y"}, Score: &half, ObservedAt: time.Unix(0, 0)},
		{MemoryID: 8},
	}}
	for format, want := range map[string][]string{
		"tsv": {"\t" + `a\tb\nc\\ "d", e` + "\t", "\tx y\t", "\t0.5\t", "\t1970-01-01T00:00:00Z\t"},
		"csv": {`,"a` + "\tb\n" + `c\ ""d"", e",`, ",x y,", ",0.5,", ",1970-01-01T00:00:00Z,"},
	} {
		var out strings.Builder
		if err := rows.Write(&out, format, answer); err != nil {
			t.Fatal(err)
		}
		if !contains(out.String(), want...) {
			t.Errorf("%s: got\n%s\nwant %q", format, out.String(), want)
		}
		if format != "tsv" {
			continue
		}
		lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
		for _, line := range lines {
			if got, want := strings.Count(line, "\t"), strings.Count(lines[0], "\t"); got != want || len(lines) != 3 {
				t.Errorf("%d tabs in a row, %d in the header, %d lines", got, want, len(lines))
			}
		}
	}
}
