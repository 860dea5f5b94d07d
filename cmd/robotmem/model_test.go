package main

import (
	"crypto/sha1"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// tinyHub answers like huggingface.co for the static model robots/tiny, whose files state no hash
// but that of a git blob.
func tinyHub(t *testing.T) *httptest.Server {
	t.Helper()
	header := `{"embeddings":{"dtype":"F32","shape":[3,2],"data_offsets":[0,24]}}`
	files := map[string]string{
		"model.safetensors": string([]byte{byte(len(header)), 0, 0, 0, 0, 0, 0, 0}) + header + strings.Repeat("\x00\x00\x80\x3f", 6),
		"tokenizer.json":    `{"pre_tokenizer":{"type":"BertPreTokenizer"},"model":{"type":"WordPiece","unk_token":"[UNK]","continuing_subword_prefix":"##","max_input_chars_per_word":100,"vocab":{"[UNK]":0,"robot":1,"the":2}}}`,
	}
	const commit = "0123456789abcdef0123456789abcdef01234567"
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/api/models/robots/tiny/revision/main" {
			var siblings []map[string]any
			for name, content := range files {
				siblings = append(siblings, map[string]any{"rfilename": name, "size": len(content), "blobId": gitBlob(content)})
			}
			json.NewEncoder(w).Encode(map[string]any{"sha": commit, "siblings": siblings})
			return
		}
		content, ok := files[strings.TrimPrefix(r.URL.Path, "/robots/tiny/resolve/"+commit+"/")]
		if !ok {
			http.Error(w, `{"error":"Invalid username or password."}`, http.StatusUnauthorized)
			return
		}
		fmt.Fprint(w, content)
	}))
	t.Cleanup(s.Close)
	return s
}

// A user pulls a model, lists and tests it, changes a memory to it, which auto follows, and removes it.
func TestModelFromPullToRemoval(t *testing.T) {
	home := t.TempDir()
	t.Setenv("ROBOTMEM_HOME", home)
	t.Setenv("ROBOTMEM_OLLAMA_URL", "http://127.0.0.1:9")
	t.Setenv("HF_ENDPOINT", tinyHub(t).URL)
	steps := []struct {
		args   string
		code   int
		stdout string
		stderr string
	}{
		{"model list", 0, "dir: " + filepath.Join(home, "models"), ""},
		{"model pull tiny", 2, "", "is not OWNER/NAME"},
		{"model pull robots/other", 2, "", "401 Unauthorized: Invalid username or password.; check the name"},
		{"model test robots/tiny", 3, "", "`robotmem model pull` fetches one"},
		{"model pull robots/tiny", 0, "robotmem model test robots/tiny", ""},
		{"model pull robots/tiny --json", 0, `"embedder":"model2vec:` + filepath.Join(home, "models", "robots", "tiny") + `"`, ""},
		{"model list", 0, "robots/tiny", ""},
		{"model list --json", 0, `"dims":2`, ""},
		{"model test robots/tiny", 0, "advice: do not use it", ""},
		{"model test", 0, "model: builtin:multilingual-e5-small@", ""},
		{"model test --embedder none", 2, "", "embedder: is none"},
		{"learn the.robot.saw.the.robot.at.the.door", 0, "created 1", ""},
		{"reembed --embedder model2vec:" + filepath.Join(home, "models", "robots", "tiny"), 0, "model2vec:tiny@", ""},
		{"recall the.robot", 0, "hybrid", ""},
		{"model test robots/tiny --json", 0, `"works":[]`, ""},
		{"model remove robots/tiny --json", 0, `{"removed":"robots/tiny"}`, ""},
		{"model remove robots/tiny", 3, "", "is not among the pulled models"},
		{"recall the.robot", 0, "bm25_only", ""},
	}
	for _, s := range steps {
		code, stdout, stderr := runArgs(t, strings.Fields(s.args)...)
		if code != s.code || !strings.Contains(stdout, s.stdout) || !strings.Contains(stderr, s.stderr) {
			t.Errorf("robotmem %s: exit code %d, stdout %q, stderr %q; want %d, %q, %q", s.args, code, stdout, stderr, s.code, s.stdout, s.stderr)
		}
	}
	if left, err := os.ReadDir(filepath.Join(home, "models")); err != nil || len(left) > 0 {
		t.Errorf("the folder of models has %v, %v", left, err)
	}
}

func gitBlob(content string) string {
	sum := sha1.Sum(fmt.Appendf(nil, "blob %d\x00%s", len(content), content))
	return hex.EncodeToString(sum[:])
}
