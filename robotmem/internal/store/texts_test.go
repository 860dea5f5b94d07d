package store

import (
	"strings"
	"testing"
)

// A database does not open unless each query has one text and each text a query.
func TestTextsThatDoNotFitAreRefused(t *testing.T) {
	file := func() (b strings.Builder) {
		for _, q := range Queries {
			b.WriteString("-- name: " + q.String() + "\nSELECT 1;\n\n")
		}
		return b
	}
	whole := file()
	if texts, err := ParseTexts(whole.String()); err != nil || len(texts) != len(Queries) {
		t.Fatalf("%d texts, %v", len(texts), err)
	}

	first := Queries[0].String()
	for name, tt := range map[string]struct{ file, says string }{
		"one is missing":      {strings.Replace(whole.String(), "-- name: "+first+"\nSELECT 1;\n\n", "", 1), first + " has no text"},
		"one has two":         {whole.String() + "-- name: " + first + "\nSELECT 2;\n", first + " has two texts"},
		"one is of no query":  {whole.String() + "-- name: Nothing\nSELECT 2;\n", `"Nothing", which is no query`},
		"none and yet a text": {strings.Replace(whole.String(), first+"\n", first+"\n-- none\n", 1), first + " needs a text"},
		"no text and no none": {strings.Replace(whole.String(), first+"\nSELECT 1;", first, 1), first + " needs a text"},
	} {
		if _, err := ParseTexts(tt.file); err == nil || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%s: %v, want %q", name, err, tt.says)
		}
	}
}
