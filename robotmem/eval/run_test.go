package eval

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/robotmem/robotmem-go/robotmem/local"
)

// writeSet writes a data set and returns its folder.
func writeSet(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "set")
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func chats() map[string]string {
	return map[string]string{
		"corpus.jsonl": `{"_id":"1","title":"","text":"the cup is red","meta":{"conv":"c/1"}}

{"_id":"2","title":"","text":"the cup is blue","meta":{"conv":"c/2"}}
{"_id":"3","title":"","text":"","meta":{"conv":"c/2"}}
{"_id":"4","title":"cup","text":"` + strings.Repeat("long ", 4000) + `","meta":{"conv":"c/2"}}
`,
		"queries.jsonl": `{"_id":"q1","text":"red cup","meta":{"conv":"c/1","category":2}}
{"_id":"q2","text":"red cup","meta":{"conv":"c/2","category":5}}
{"_id":"q3","text":"red cup","meta":{"conv":"c/1","category":3}}
{"_id":"q4","text":"red cup","meta":{"category":9}}
`,
		"qrels.tsv": "query-id\tcorpus-id\tscore\r\nq1\t1\t1\r\nq2\t2\t1\nq4\t1\t0\n",
	}
}

func TestRunAsksEachChatAboutItself(t *testing.T) {
	m, err := local.Open(t.Context(), filepath.Join(t.TempDir(), "memory.db"), local.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	set, err := Load(writeSet(t, chats()))
	if err != nil {
		t.Fatal(err)
	}
	steps, last := 0, 0
	got, err := Run(t.Context(), m, set, Options{Progress: func(done, total int) { steps, last = total, done }})
	if err != nil {
		t.Fatal(err)
	}
	// q2 asks for red in the chat that knows blue alone, and still hits: a
	// query never sees another chat.
	want := &Result{Set: "set", Docs: 3, Cut: 1, Refused: 1, Queries: 2, Unjudged: 2, Figures: Figures{Hit1: 1, Recall10: 1, MRR: 1, NDCG10: 1}, Lists: []ListFigures{}}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(Result{}, "LearnS", "Figures.QueryMS")); diff != "" {
		t.Errorf("Run (-want +got):\n%s", diff)
	}
	if steps != 6 || last != 6 {
		t.Errorf("progress ended at %d of %d, want 6 of 6", last, steps)
	}
}

func TestLoadNamesFileAndLine(t *testing.T) {
	tests := []struct {
		name, file, text, want string
	}{
		{"no JSON", "corpus.jsonl", "{\"_id\":\"1\"}\n{", "corpus.jsonl line 2: "},
		{"no id", "queries.jsonl", "{\"text\":\"x\"}", "queries.jsonl line 1: _id is missing"},
		{"a bad score", "qrels.tsv", "q\td\ts\nq1\t1\tgood", "qrels.tsv line 2: the score \"good\" is not a whole number"},
		{"spaces for tabs", "qrels.tsv", "h\nq1 1 1", "qrels.tsv line 2: want 3 cells"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			files := chats()
			files[tt.file] = tt.text
			_, err := Load(writeSet(t, files))
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want %q", err, tt.want)
			}
		})
	}
}
