package embedding_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/embedding"
)

var time0 time.Time // no Last-Modified

const staticConfig = `{"model_type": "model2vec", "architectures": ["StaticModel"], "normalize": true}`

// tinyFiles are the files of a static model that knows seven words.
func tinyFiles(t testing.TB) map[string]string {
	t.Helper()
	return map[string]string{
		"README.md": "# tiny", "config.json": staticConfig, "onnx/model.onnx": strings.Repeat("o", 100),
		"model.safetensors": string(tensorFile(t, bertWeights(t))), "tokenizer.json": bertTokenizer,
	}
}

// request of a hub. Its patience is more than a busy machine needs.
func (h *hub) request() embedding.Hub {
	return embedding.Hub{URL: h.URL, Timeout: time.Minute}
}

func pull(t testing.TB, m embedding.Models, h embedding.Hub, name string) *embedding.Pulled {
	t.Helper()
	p, err := m.Pull(t.Context(), h, name)
	if err != nil {
		t.Fatalf("pull %s: %v", name, err)
	}
	return p
}

// folder is where the embedder of a model has its files.
func folder(p *embedding.Pulled) string {
	_, dir, _ := strings.Cut(p.Embedder, ":")
	return dir
}

// entries are the files below dir.
func entries(t testing.TB, dir string) (all []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err == nil && !d.IsDir() {
			path, err = filepath.Rel(dir, path)
			all = append(all, filepath.ToSlash(path))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestPullInstallsAModel(t *testing.T) {
	h := newHub(t, tinyFiles(t))
	m := embedding.Models{Dir: filepath.Join(t.TempDir(), "models")}
	var reports []int64
	from := h.request()
	from.Progress = func(done, total int64) { reports = append(reports, done, total) }
	p := pull(t, m, from, tinyModel)
	total := int64(len(h.files["model.safetensors"]) + len(h.files["tokenizer.json"]) + len(staticConfig))
	if p.Embedder != "model2vec:"+m.Dir+"/"+tinyModel || p.Dims != 2 || p.Bytes != total || p.Revision != hubCommit {
		t.Errorf("got %+v, want %d bytes", p, total)
	}
	if n := len(reports); n == 0 || reports[n-2] != total || reports[n-1] != total {
		t.Errorf("the progress ended at %v, want %d of %d", reports[max(0, n-2):], total, total)
	}
	if diff := cmp.Diff([]string{"config.json", "model.safetensors", "robotmem.json", "tokenizer.json"}, entries(t, folder(p))); diff != "" {
		t.Errorf("the folder (-want +got):\n%s", diff)
	}
	if all := m.List(); len(all) != 1 || cmp.Diff(*p, all[0]) != "" {
		t.Errorf("the list is %+v, want %+v", all, p)
	}
	e := open(t, p.Embedder, embedding.Options{})
	if got := e.State().Model; got != p.Identity {
		t.Errorf("the embedder is %s, want %s", got, p.Identity)
	}
	h.asked()
	if again := pull(t, m, h.request(), tinyModel); cmp.Diff(p, again) != "" || len(h.asked()) > 0 {
		t.Errorf("the second pull fetched files: %+v", again)
	}
	if len(h.tokens) > 0 {
		t.Errorf("tokens were sent: %v", h.tokens)
	}
}

func TestPullTakesARevisionInPlaceOfAnother(t *testing.T) {
	h := newHub(t, tinyFiles(t))
	m := embedding.Models{Dir: t.TempDir()}
	old := pull(t, m, h.request(), tinyModel)
	h.set(func() {
		h.commit, h.files["config.json"] = strings.Repeat("b", 40), `{"model_type": "model2vec"}`
		h.files["tokenizer.json"] += "\n"
	})
	now := pull(t, m, h.request(), tinyModel+"@v1/x")
	if now.Revision != h.commit || now.Identity == old.Identity {
		t.Errorf("got %+v after %+v", now, old)
	}
	for _, file := range h.asked() {
		if file == "model.safetensors bytes=1-" {
			t.Errorf("asked for %s", file)
		}
	}
	if diff := cmp.Diff([]string{"config.json", "model.safetensors", "robotmem.json", "tokenizer.json"}, entries(t, folder(now))); diff != "" {
		t.Errorf("the folder (-want +got):\n%s", diff)
	}
	// A revision that cannot be used does not replace it.
	h.set(func() { h.commit, h.files["tokenizer.json"] = strings.Repeat("c", 40), "{}" })
	if _, err := m.Pull(t.Context(), h.request(), tinyModel); !errors.Is(err, robotmem.Invalid) {
		t.Errorf("got %v, want Invalid", err)
	}
	if got, err := m.Get(tinyModel); err != nil || got.Identity != now.Identity {
		t.Errorf("got %+v, %v, want %s", got, err, now.Identity)
	}
	open(t, now.Embedder, embedding.Options{})
	if got := entries(t, filepath.Join(m.Dir, ".pull")); got != nil {
		t.Errorf("left %v", got)
	}
}

// The token goes to the hub and not to the host that it redirects to.
func TestPullOfAGatedModel(t *testing.T) {
	h := newHub(t, tinyFiles(t))
	h.token = hubToken
	m := embedding.Models{Dir: t.TempDir()}
	from := h.request()
	for token, next := range map[string]string{"": "accept its terms at " + h.URL + "/robots/tiny and set HF_TOKEN", "hf_other": "to a valid token"} {
		from.Token = token
		_, err := m.Pull(t.Context(), from, tinyModel)
		if !errors.Is(err, robotmem.Forbidden) || !strings.Contains(err.Error(), next) || !strings.Contains(err.Error(), "is restricted") {
			t.Errorf("with the token %q got %v, want Forbidden with %q", token, err, next)
		}
		if token != "" && strings.Contains(err.Error(), token) {
			t.Errorf("the token is told: %v", err)
		}
	}
	from.Token = hubToken
	pull(t, m, from, tinyModel)
	if len(h.tokens) > 0 {
		t.Errorf("another host was sent %v", h.tokens)
	}
}

func TestPullGoesOnAfterAnInterruption(t *testing.T) {
	h := newHub(t, tinyFiles(t))
	m := embedding.Models{Dir: t.TempDir()}
	ctx, cancel := context.WithCancel(t.Context())
	h.on = func(w http.ResponseWriter, r *http.Request, file string) bool {
		if file != "model.safetensors" {
			return false
		}
		halfOf(w, h.files[file])
		<-r.Context().Done()
		return true
	}
	from := h.request()
	from.Progress = func(done, total int64) { // half of the first file
		if done > 0 {
			cancel()
		}
	}
	_, err := m.Pull(ctx, from, tinyModel)
	if !errors.Is(err, robotmem.Unavailable) || !strings.Contains(err.Error(), "pull again to go on") {
		t.Fatalf("got %v, want Unavailable", err)
	}
	if all := m.List(); len(all) != 0 {
		t.Errorf("the list is %+v, want no model", all)
	}
	if e := open(t, "auto", embedding.Options{Models: m.Dir, OllamaURL: "127.0.0.1:9"}); e.State().Model != "" {
		t.Errorf("auto has taken %s", e.State().Model)
	}
	h.asked()
	h.set(func() { h.on = nil })
	pull(t, m, h.request(), tinyModel)
	size := len(h.files["model.safetensors"])
	if got := h.asked(); !slices.Contains(got, fmt.Sprintf("model.safetensors bytes=%d-", size/2)) || slices.Contains(got, "model.safetensors") {
		t.Errorf("asked for %v, want the second half", got)
	}
	if got := entries(t, filepath.Join(m.Dir, ".pull")); got != nil {
		t.Errorf("left %v", got)
	}
}

// halfOf sends the first half of a file and says that all of it comes.
func halfOf(w http.ResponseWriter, content string) {
	w.Header().Set("Content-Length", fmt.Sprint(len(content)))
	w.Write([]byte(content[:len(content)/2]))
	w.(http.Flusher).Flush()
}

// A connection that breaks in the middle is continued by the next call.
func TestPullContinuesBrokenConnections(t *testing.T) {
	h := newHub(t, tinyFiles(t))
	faults := 0
	h.on = func(w http.ResponseWriter, r *http.Request, file string) bool {
		if file == "" || r.Header.Get("Range") != "" {
			return false
		}
		faults++
		halfOf(w, h.files[file])
		panic(http.ErrAbortHandler)
	}
	m := embedding.Models{Dir: t.TempDir()}
	for range 3 {
		if _, err := m.Pull(t.Context(), h.request(), tinyModel); !errors.Is(err, robotmem.Unavailable) || !strings.Contains(err.Error(), "pull again") {
			t.Errorf("got %v, want Unavailable", err)
		}
	}
	if pull(t, m, h.request(), tinyModel); faults != 3 {
		t.Errorf("%d files were broken, want 3", faults)
	}
}

// A server that ignores Range sends the whole file. A part that is damaged on the disk is fetched
// by the next call.
func TestPullMendsItsParts(t *testing.T) {
	h := newHub(t, tinyFiles(t))
	m := embedding.Models{Dir: t.TempDir()}
	content := h.files["model.safetensors"]
	part := filepath.Join(m.Dir, ".pull", "robots--tiny", hubCommit, "tiny", "model.safetensors")
	for name, test := range map[string]struct {
		have    string
		damaged bool
	}{"half": {content[:20], false}, "complete": {content, false}, "damaged": {strings.Repeat("x", 20), true}, "too long": {content + "x", true}} {
		for _, ranges := range []bool{true, false} {
			if err := errors.Join(os.MkdirAll(filepath.Dir(part), 0o700), os.WriteFile(part, []byte(test.have), 0o600)); err != nil {
				t.Fatal(err)
			}
			h.set(func() {
				h.on = func(w http.ResponseWriter, _ *http.Request, file string) bool {
					if !ranges && file != "" {
						w.Write([]byte(h.files[file]))
					}
					return !ranges && file != ""
				}
			})
			var done, total int64
			from := h.request()
			from.Progress = func(d, t int64) { done, total = d, t }
			p, err := m.Pull(t.Context(), from, tinyModel)
			if damaged := test.damaged && (ranges || len(test.have) > len(content)); damaged {
				if !errors.Is(err, robotmem.Unavailable) || !strings.Contains(err.Error(), "pull again") {
					t.Errorf("%s: got %v", name, err)
				}
				p, err = m.Pull(t.Context(), from, tinyModel)
			}
			if err != nil || done != total || total != p.Bytes {
				t.Errorf("%s: got %v, the progress ended at %d of %d", name, err, done, total)
			}
			if err := m.Remove(tinyModel); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func TestPullThatFailsInstallsNothing(t *testing.T) {
	html := func(w http.ResponseWriter, _ *http.Request, file string) bool {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprint(w, "<html>Welcome to the airport</html>")
		return true
	}
	without := func(names ...string) func(*hub) {
		return func(h *hub) {
			for _, n := range names {
				delete(h.files, n)
			}
		}
	}
	file := func(name, content string) func(*hub) { return func(h *hub) { h.files[name] = content } }
	status := func(code int, header, value string) func(*hub) {
		return func(h *hub) {
			h.on = func(w http.ResponseWriter, _ *http.Request, file string) bool {
				if file != "" {
					w.Header().Set(header, value)
					w.WriteHeader(code)
				}
				return file != ""
			}
		}
	}
	tensors := bertWeights(t)
	short := map[string]any{"embeddings": rawOf(t, "F32", []int{3, 2}, make([]float32, 6))}
	lies := strings.Replace(string(tensorFile(t, tensors)), `"shape":[7,2]`, `"shape":[9,9]`, 1)
	for name, test := range map[string]struct {
		name  string
		hub   func(*hub)
		kind  robotmem.Kind
		text  string
		parts bool // what was fetched is kept
	}{
		"no name":                  {"tiny", nil, robotmem.Invalid, `"tiny" is not OWNER/NAME`, false},
		"a path":                   {"../tiny", nil, robotmem.Invalid, "is not OWNER/NAME", false},
		"a path of two":            {"a/..", nil, robotmem.Invalid, "is not OWNER/NAME", false},
		"an unknown model":         {"robots/huge", nil, robotmem.Forbidden, "check the name", false},
		"an unknown revision":      {tinyModel + "@v9", nil, robotmem.NotFound, "the revision behind @", false},
		"HTML for the description": {tinyModel, func(h *hub) { h.on = html }, robotmem.Unavailable, "answered \"text/html; charset=utf-8\" and not what a hub tells", false},
		"HTML for a file": {tinyModel, func(h *hub) {
			h.on = func(w http.ResponseWriter, r *http.Request, f string) bool { return f != "" && html(w, r, f) }
		}, robotmem.Unavailable, "model.safetensors of robots/tiny has the hash", true},
		"half a file": {tinyModel, func(h *hub) {
			h.on = func(w http.ResponseWriter, r *http.Request, f string) bool {
				if f == "tokenizer.json" {
					w.Write([]byte(h.files[f][:9]))
				}
				return f == "tokenizer.json"
			}
		}, robotmem.Unavailable, "tokenizer.json of robots/tiny has the hash", true},
		"a wrong SHA-256": {tinyModel, func(h *hub) { h.hashes["model.safetensors"] = strings.Repeat("ab", 32) }, robotmem.Unavailable, "where the hub states abab", true},
		"a wrong SHA-1": {tinyModel, func(h *hub) {
			h.hashes["config.json"] = strings.Repeat("ab", 20)
			h.files["config.json"] = `{"model_type":"model2vec"}`
		}, robotmem.Unavailable, "config.json of robots/tiny has the hash", true},
		"a hash that is a path": {tinyModel, func(h *hub) { h.hashes["model.safetensors"] = "../../../etc/passwd" }, robotmem.Unavailable, "states no size and hash of model.safetensors", false},
		"503":                   {tinyModel, status(503, "X-A", "b"), robotmem.Unavailable, "503 Service Unavailable; check the network and HF_ENDPOINT, then pull again", true},
		"a server that answers nothing": {tinyModel, func(h *hub) {
			h.on = func(_ http.ResponseWriter, r *http.Request, file string) bool {
				if file != "" {
					<-r.Context().Done()
				}
				return file != ""
			}
		}, robotmem.Unavailable, "no bytes for 2s; check the network and HF_ENDPOINT", true},
		"a server that stops within a file": {tinyModel, func(h *hub) {
			h.on = func(w http.ResponseWriter, r *http.Request, file string) bool {
				if file != "" {
					w.WriteHeader(http.StatusOK)
					_, _ = w.Write([]byte("abc"))
					_ = http.NewResponseController(w).Flush()
					<-r.Context().Done()
				}
				return file != ""
			}
		}, robotmem.Unavailable, "no bytes for 2s; check the network and HF_ENDPOINT", true},
		"429 for an hour": {tinyModel, status(429, "Retry-After", "3600"), robotmem.Unavailable, "429 Too Many Requests; check the network", true},
		"a redirect without end": {tinyModel, func(h *hub) {
			status(302, "Location", h.URL+"/"+tinyModel+"/resolve/"+hubCommit+"/model.safetensors")(h)
		}, robotmem.Unavailable, "redirects to http://", true},
		"shapes that lie":            {tinyModel, file("model.safetensors", lies), robotmem.Invalid, "data offsets mismatch", false},
		"fewer vectors than tokens":  {tinyModel, file("model.safetensors", string(tensorFile(t, short))), robotmem.Invalid, "pull: robots/tiny cannot be used: 7 tokens, but 3 vectors; choose another", false},
		"half of the weights":        {tinyModel, func(h *hub) { h.files["model.safetensors"] = h.files["model.safetensors"][:120] }, robotmem.Invalid, "model.safetensors", false},
		"an unsupported tokenizer":   {tinyModel, file("tokenizer.json", strings.Replace(bertTokenizer, `"WordPiece"`, `"BPE"`, 1)), robotmem.Invalid, `models of type "BPE" are not supported`, false},
		"a transformer":              {tinyModel, func(h *hub) { h.files["config.json"] = `{"model_type":"bert"}`; delete(h.files, "onnx/model.onnx") }, robotmem.Invalid, "is no model that robotmem runs", false},
		"an ONNX model":              {tinyModel, file("config.json", `{"model_type":"bert"}`), robotmem.Invalid, "which this robotmem cannot run; build one that can with `make onnx`", false},
		"a pickle":                   {tinyModel, func(h *hub) { without("model.safetensors", "onnx/model.onnx")(h); h.files["pytorch_model.bin"] = "x" }, robotmem.Invalid, "Python pickles such as pytorch_model.bin are not read", false},
		"no tokenizer":               {tinyModel, without("tokenizer.json", "onnx/model.onnx"), robotmem.Invalid, "is no model that robotmem runs", false},
		"words that it doesn't know": {tinyModel, file("tokenizer.json", strings.NewReplacer(`"wet"`, `"湿a"`, `"glass"`, `"湿b"`).Replace(bertTokenizer)), robotmem.Invalid, "has no word that the model knows", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHub(t, tinyFiles(t))
			if test.hub != nil {
				test.hub(h)
			}
			m := embedding.Models{Dir: t.TempDir()}
			from := h.request()
			if strings.HasPrefix(test.text, "no bytes") {
				from.Timeout = 2 * time.Second
			}
			_, err := m.Pull(t.Context(), from, test.name)
			if !errors.Is(err, test.kind) || !strings.Contains(err.Error(), test.text) {
				t.Errorf("got %v, want %s with %q", err, test.kind, test.text)
			}
			t.Log(err)
			left := entries(t, m.Dir)
			if kept := len(left) > 0; kept != test.parts || slices.ContainsFunc(left, func(f string) bool { return !strings.HasPrefix(f, ".pull/") }) {
				t.Errorf("left %v", left)
			}
		})
	}
}

func TestPullFromNowhere(t *testing.T) {
	m := embedding.Models{Dir: t.TempDir()}
	_, err := m.Pull(t.Context(), embedding.Hub{URL: "127.0.0.1:9"}, tinyModel)
	if !errors.Is(err, robotmem.Unavailable) || !strings.Contains(err.Error(), "check the network and HF_ENDPOINT") {
		t.Errorf("got %v", err)
	}
	t.Log(err)
	if _, err = m.Pull(t.Context(), embedding.Hub{URL: "ftp://hub"}, tinyModel); !errors.Is(err, robotmem.Invalid) {
		t.Errorf("got %v", err)
	}
}

// fakeONNX is a runtime whose models know every text.
type fakeONNX struct{}

func (fakeONNX) Embed(_ context.Context, texts []string) ([][]float32, error) {
	vectors := make([][]float32, len(texts))
	for i := range vectors {
		vectors[i] = []float32{1, 2, 3}
	}
	return vectors, nil
}

func (fakeONNX) Close() error { return nil }

func TestPullOfAnONNXModel(t *testing.T) {
	files := tinyFiles(t)
	files["config.json"], files["1_Pooling/config.json"] = `{"model_type": "bert"}`, `{"pooling_mode_mean_tokens": true}`
	h := newHub(t, files)
	runtimes := map[string]embedding.Runtime{"onnx": {Files: []string{"model.onnx", "tokenizer.json"}, Open: func(string) (embedding.Model, error) { return fakeONNX{}, nil }}}
	p := pull(t, embedding.Models{Dir: t.TempDir(), Runtimes: runtimes}, h.request(), tinyModel)
	if !strings.HasPrefix(p.Embedder, "onnx:/") || p.Dims != 3 {
		t.Errorf("got %+v", p)
	}
	if diff := cmp.Diff([]string{"1_Pooling/config.json", "config.json", "model.onnx", "robotmem.json", "tokenizer.json"}, entries(t, folder(p))); diff != "" {
		t.Errorf("the folder (-want +got):\n%s", diff)
	}
}

func TestAutoTakesThePulledModelWithoutOllama(t *testing.T) {
	h := newHub(t, tinyFiles(t))
	m := embedding.Models{Dir: t.TempDir()}
	p := pull(t, m, h.request(), tinyModel)
	nothing := newRaw(t, reply(200, `{"models":[]}`))
	e := open(t, "auto", embedding.Options{Models: m.Dir, OllamaURL: nothing})
	if got := e.State().Model; got != p.Identity {
		t.Fatalf("auto has taken %q, want %s", got, p.Identity)
	}
	ended, cancel := context.WithTimeout(t.Context(), time.Nanosecond) // shorter than reading a model takes
	defer cancel()
	if v, err := e.Embed(ended, robotmem.ForQuestion, []string{"wet glass"}); err != nil || len(v[0]) != 2 {
		t.Errorf("got %v, %v", v, err)
	}
	ollama := newRaw(t, reply(200, `{"models":[`+entry("nomic-embed-text:latest", "nomic-bert")+`]}`))
	if got := open(t, "auto", embedding.Options{Models: m.Dir, OllamaURL: ollama}).State().Model; got != "ollama:nomic-embed-text" {
		t.Errorf("with Ollama auto has taken %q", got)
	}
}

// A model whose files were replaced would give vectors of another meaning under the same name.
func TestPulledModelWithOtherFilesIsNotUsed(t *testing.T) {
	h := newHub(t, tinyFiles(t))
	m := embedding.Models{Dir: t.TempDir()}
	p := pull(t, m, h.request(), tinyModel)
	if err := os.WriteFile(filepath.Join(folder(p), "tokenizer.json"), []byte(bertTokenizer+" "), 0o600); err != nil {
		t.Fatal(err)
	}
	e := open(t, "auto", embedding.Options{Models: m.Dir, OllamaURL: newRaw(t, reply(200, `{"models":[]}`))})
	if _, err := e.Embed(t.Context(), robotmem.ForQuestion, []string{"wet glass"}); err == nil || !strings.Contains(err.Error(), "pull the model again") {
		t.Errorf("got %v", err)
	}
}

func TestRemove(t *testing.T) {
	h := newHub(t, tinyFiles(t))
	m := embedding.Models{Dir: t.TempDir()}
	if err := m.Remove(tinyModel); !errors.Is(err, robotmem.NotFound) {
		t.Errorf("got %v, want NotFound", err)
	}
	pull(t, m, h.request(), tinyModel)
	if err := m.Remove(tinyModel); err != nil {
		t.Fatal(err)
	}
	if got := entries(t, m.Dir); got != nil {
		t.Errorf("left %v", got)
	}
	if all := m.List(); len(all) != 0 {
		t.Errorf("the list is %v", all)
	}
}

// Two processes that pull one model at once both end with it, whichever is first.
func TestTwoPullsOfOneModel(t *testing.T) {
	h := newHub(t, tinyFiles(t))
	m := embedding.Models{Dir: t.TempDir()}
	var first *embedding.Pulled
	from := h.request()
	from.Progress = func(done, total int64) {
		// The files are there and not yet installed.
		if done == total && first == nil {
			first = pull(t, m, h.request(), tinyModel)
		}
	}
	second := pull(t, m, from, tinyModel)
	if first == nil || cmp.Diff(first, second) != "" {
		t.Errorf("the second pull says %+v, the first %+v", second, first)
	}
	if got := entries(t, m.Dir); len(got) != 4 {
		t.Errorf("there is %v", got)
	}
	open(t, second.Embedder, embedding.Options{})
}

// A pull of another revision that ends first removes what this one has gathered, and the error says so.
func TestAPullOfAnotherRevisionMeanwhile(t *testing.T) {
	h := newHub(t, tinyFiles(t))
	m := embedding.Models{Dir: t.TempDir()}
	var other *embedding.Pulled
	from := h.request()
	from.Progress = func(done, total int64) {
		if done == total && other == nil {
			h.set(func() { h.commit = strings.Repeat("b", 40) })
			other = pull(t, m, h.request(), tinyModel)
		}
	}
	if _, err := m.Pull(t.Context(), from, tinyModel); !errors.Is(err, robotmem.Unavailable) || !strings.Contains(err.Error(), "run it again") {
		t.Errorf("got %v", err)
	}
	if all := m.List(); len(all) != 1 || all[0].Revision != other.Revision {
		t.Errorf("installed are %+v", all)
	}
}
