package embedding_test

import (
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
)

const (
	hubToken  = "hf_do_not_tell"
	hubCommit = "0123456789abcdef0123456789abcdef01234567"
	tinyModel = "robots/tiny"
	largeFile = 100 // bytes from which the fake hub keeps a file in LFS
)

// hub is a loopback server that answers like huggingface.co: it states commits, sizes and hashes,
// and redirects large files to another host with a signed address.
type hub struct {
	*httptest.Server
	cdn *httptest.Server

	mu     sync.Mutex
	files  map[string]string
	commit string
	token  string                                                         // asked for if not empty
	hashes map[string]string                                              // stated instead of the right ones
	on     func(w http.ResponseWriter, r *http.Request, file string) bool // answers in place of the hub
	gets   []string                                                       // file and range of each request for bytes
	tokens []string                                                       // that the CDN was sent
}

func newHub(t testing.TB, files map[string]string) *hub {
	h := &hub{files: files, commit: hubCommit, hashes: map[string]string{}}
	h.cdn = httptest.NewServer(http.HandlerFunc(h.serveCDN))
	h.Server = httptest.NewServer(http.HandlerFunc(h.serve))
	t.Cleanup(h.cdn.Close)
	t.Cleanup(h.Server.Close)
	return h
}

// set changes the hub.
func (h *hub) set(f func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	f()
}

// asked returns the requests for bytes since the last call.
func (h *hub) asked() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	got := h.gets
	h.gets = nil
	return got
}

func hubError(w http.ResponseWriter, status int, code, message string) {
	w.Header().Set("X-Error-Code", code)
	w.Header().Set("X-Error-Message", message)
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	fmt.Fprintf(w, `{"error":%q}`, message)
}

// stated returns the git SHA-1 of a file, and its SHA-256 if the hub states one.
func (h *hub) stated(name string) (blob, large string) {
	content := h.files[name]
	git := sha1.Sum(fmt.Appendf(nil, "blob %d\x00%s", len(content), content))
	blob = hex.EncodeToString(git[:])
	if len(content) >= largeFile {
		sum := sha256.Sum256([]byte(content))
		large = hex.EncodeToString(sum[:])
	}
	if wrong := h.hashes[name]; wrong != "" && large != "" {
		large = wrong
	} else if wrong != "" {
		blob = wrong
	}
	return blob, large
}

func (h *hub) serve(w http.ResponseWriter, r *http.Request) {
	h.mu.Lock()
	defer h.mu.Unlock()
	authorized := r.Header.Get("Authorization") == "Bearer "+h.token
	if rest, ok := strings.CutPrefix(r.URL.Path, "/api/models/"); ok {
		if h.on != nil && h.on(w, r, "") {
			return
		}
		name, revision, _ := strings.Cut(rest, "/revision/")
		switch {
		case name != tinyModel:
			hubError(w, 401, "RepoNotFound", "Invalid username or password.")
		case !slices.Contains([]string{"main", "v1/x", h.commit}, revision):
			hubError(w, 404, "RevisionNotFound", "Invalid rev id: "+revision)
		default:
			h.describe(w, r.URL.Query().Get("blobs") == "true")
		}
		return
	}
	file, ok := strings.CutPrefix(r.URL.Path, "/"+tinyModel+"/resolve/"+h.commit+"/")
	content, known := h.files[file]
	switch {
	case !ok || !known:
		hubError(w, 404, "EntryNotFound", "Entry not found")
	case h.token != "" && !authorized:
		hubError(w, 401, "GatedRepo", "Access to model "+tinyModel+" is restricted. You must have access to it and be authenticated to access it. Please log in.")
	case len(content) >= largeFile:
		_, sum := h.stated(file)
		w.Header().Set("X-Repo-Commit", h.commit)
		w.Header().Set("X-Linked-Etag", `"`+sum+`"`)
		w.Header().Set("X-Linked-Size", fmt.Sprint(len(content)))
		http.Redirect(w, r, h.cdn.URL+"/"+file+"?X-Amz-Signature=secret", http.StatusFound)
	default:
		h.bytes(w, r, file)
	}
}

// describe answers what the API tells of a model; without blobs only the names.
func (h *hub) describe(w http.ResponseWriter, blobs bool) {
	var siblings []map[string]any
	for _, name := range slices.Sorted(maps.Keys(h.files)) {
		one := map[string]any{"rfilename": name}
		if blob, large := h.stated(name); blobs {
			one["size"], one["blobId"] = len(h.files[name]), blob
			if large != "" {
				one["lfs"] = map[string]any{"sha256": large, "size": len(h.files[name]), "pointerSize": 134}
			}
		}
		siblings = append(siblings, one)
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	config := json.RawMessage(h.files["config.json"])
	json.NewEncoder(w).Encode(map[string]any{"id": tinyModel, "config": config, "sha": h.commit, "gated": h.token != "", "private": false, "siblings": siblings})
}

func (h *hub) serveCDN(w http.ResponseWriter, r *http.Request) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if token := r.Header.Get("Authorization"); token != "" {
		h.tokens = append(h.tokens, token)
	}
	if r.URL.Query().Get("X-Amz-Signature") != "secret" {
		http.Error(w, "<Error><Code>AccessDenied</Code></Error>", http.StatusForbidden)
		return
	}
	h.bytes(w, r, strings.TrimPrefix(r.URL.Path, "/"))
}

// bytes serves a file with ranges.
func (h *hub) bytes(w http.ResponseWriter, r *http.Request, file string) {
	h.gets = append(h.gets, strings.TrimSpace(file+" "+r.Header.Get("Range")))
	if h.on != nil && h.on(w, r, file) {
		return
	}
	w.Header().Set("Content-Type", "application/octet-stream")
	http.ServeContent(w, r, "", time0, strings.NewReader(h.files[file]))
}
