package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The reranker, its model and its key come from the settings, in any of their spellings.
func TestRerankerOfTheSettings(t *testing.T) {
	const key = "sk-do-not-tell"
	var asked []string // model and key
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var in struct {
			Model     string
			Documents []string
		}
		if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
			t.Error(err)
		}
		asked = append(asked, in.Model+" "+r.Header.Get("Authorization"))
		at := slices.IndexFunc(in.Documents, func(s string) bool { return strings.Contains(s, "dock") })
		fmt.Fprintf(w, `{"results":[{"index":%d,"relevance_score":0.9}]}`, max(at, 0))
	}))
	defer service.Close()
	dir := t.TempDir()
	t.Setenv("ROBOTMEM_HOME", dir)
	t.Setenv("ROBOTMEM_EMBEDDER", "none")
	t.Setenv("ROBOTMEM_RERANKER_KEY", key)
	robotmem := func(args ...string) string {
		t.Helper()
		var stdout, stderr strings.Builder
		if code := run(args, strings.NewReader(""), &stdout, &stderr); code != 0 || strings.Contains(stdout.String()+stderr.String(), key) {
			t.Fatalf("%v: exit %d, %s%s", args, code, stdout.String(), stderr.String())
		}
		return stdout.String()
	}
	robotmem("learn", "the battery charges at the dock, which is in bay four beside the door")
	robotmem("learn", "a battery charges")
	question := []string{"recall", "battery charges"}
	first := func(args ...string) string {
		t.Helper()
		out := robotmem(append(question, args...)...)
		if strings.Index(out, "dock") < strings.Index(out, "a battery charges") {
			return "dock"
		}
		return "battery"
	}

	if got := first(); got != "battery" || len(asked) > 0 {
		t.Errorf("without one: first %s, asked %v", got, asked)
	}
	if got := first("--reranker", service.URL); got != "dock" || !slices.Equal(asked, []string{" Bearer " + key}) {
		t.Errorf("by the flag: first %s, asked %v", got, asked)
	}
	asked = nil
	file := fmt.Sprintf("reranker: %s/v1/rerank\nreranker_model: rank-1\n", service.URL)
	if err := os.WriteFile(filepath.Join(dir, "config.yaml"), []byte(file), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := first(); got != "dock" || !slices.Equal(asked, []string{"rank-1 Bearer " + key}) {
		t.Errorf("by the file: first %s, asked %v", got, asked)
	}
	if out := robotmem(question...); !strings.Contains(out, "rerank: the first 2 hits were reranked by rank-1 at "+service.URL) {
		t.Errorf("got %s", out)
	}
	asked = nil
	t.Setenv("ROBOTMEM_RERANKER", "none")
	if got := first(); got != "battery" || len(asked) > 0 {
		t.Errorf("none in the environment: first %s, asked %v", got, asked)
	}
}
