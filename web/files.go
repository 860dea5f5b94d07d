package web

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"net/http"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/klauspost/compress/gzip"
)

// dashboardPolicy lets the dashboard use what this node serves and nothing
// else: no script in the page, no other site, no frame around it.
const dashboardPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; media-src 'self' blob:; connect-src 'self'; font-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"

// mediaTypes are those of the dashboard's files. The system's own table is not
// asked: on some machines it takes scripts for plain text.
var mediaTypes = map[string]string{
	".css": "text/css; charset=utf-8", ".html": "text/html; charset=utf-8", ".ico": "image/x-icon",
	".js": "text/javascript; charset=utf-8", ".json": "application/json", ".map": "application/json",
	".png": "image/png", ".svg": "image/svg+xml", ".txt": "text/plain; charset=utf-8",
	".webmanifest": "application/manifest+json", ".woff2": "font/woff2",
}

// page is a file of the dashboard, ready to be sent.
type page struct {
	mediaType    string
	tag          string // of the content
	plain, small []byte // small is gzip, nil where it saves nothing
}

// pages are the dashboard's files by their path, each read and compressed once,
// when it is first asked for.
type pages map[string]func() (page, error)

func newPages(files fs.FS) (pages, error) {
	all := pages{}
	err := fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			all["/"+name] = sync.OnceValues(func() (page, error) { return readPage(files, name) })
		}
		return err
	})
	return all, err
}

func readPage(files fs.FS, name string) (page, error) {
	data, err := fs.ReadFile(files, name)
	if err != nil {
		return page{}, err
	}
	sum := sha256.Sum256(data)
	p := page{mediaType: mediaTypes[path.Ext(name)], tag: hex.EncodeToString(sum[:16]), plain: data}
	if p.mediaType == "" {
		p.mediaType = "application/octet-stream"
	}
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return page{}, err
	}
	if _, err := w.Write(data); err != nil {
		return page{}, err
	}
	if err := w.Close(); err != nil {
		return page{}, err
	}
	if b.Len() < len(data)*9/10 {
		p.small = b.Bytes()
	}
	return p, nil
}

// dashboard answers the dashboard's files, and passes on what is none of them.
// The app reads the path itself, so that a browser that opens any path without
// a dot gets index.html, unless it is a path of the node's own.
func (s *server) dashboard(files fs.FS, next http.Handler) http.Handler {
	all, err := newPages(files)
	if err != nil {
		s.log.Error("the dashboard cannot be read", "err", err)
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := r.URL.Path
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			next.ServeHTTP(w, r)
			return
		}
		if all[name] == nil && opensApp(name) && accepts(r, "text/html") {
			name = "/index.html"
		}
		if all[name] == nil {
			next.ServeHTTP(w, r)
			return
		}
		p, err := all[name]()
		if err != nil {
			s.writeProblem(w, r, s.problemOf(r, err))
			return
		}
		p.serve(w, r)
	})
}

// opensApp reports whether a browser that asks for the path wants the app.
func opensApp(name string) bool {
	first, _, _ := strings.Cut(strings.TrimPrefix(name, "/"), "/")
	return !strings.Contains(name, ".") && !slices.Contains(ownPaths, first)
}

// ownPaths are the first parts of the paths that the node answers itself.
var ownPaths = []string{"api", "mcp", "healthz", "readyz", "metrics"}

// serve answers the page, or 304 to a browser that has it. The names stay the
// same from version to version, so a browser has to ask each time.
func (p page) serve(w http.ResponseWriter, r *http.Request) {
	body, tag := p.plain, `"`+p.tag+`"`
	h := w.Header()
	if p.small != nil && takesGzip(r) {
		body, tag = p.small, `"`+p.tag+`-gzip"`
		h.Set("Content-Encoding", "gzip")
	}
	h.Set("Content-Type", p.mediaType)
	h.Set("ETag", tag)
	h.Set("Cache-Control", "no-cache")
	h.Set("Vary", "Accept, Accept-Encoding")
	h.Set("Content-Security-Policy", dashboardPolicy)
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("X-Content-Type-Options", "nosniff")
	if hasTag(r, p.tag) {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	h.Set("Content-Length", strconv.Itoa(len(body)))
	if r.Method != http.MethodHead {
		_, _ = w.Write(body) // a caller that has gone needs no answer
	}
}

// hasTag reports whether the caller holds the content of that tag, in either
// encoding.
func hasTag(r *http.Request, tag string) bool {
	for _, header := range r.Header.Values("If-None-Match") {
		for have := range strings.SplitSeq(header, ",") {
			have = strings.Trim(strings.TrimPrefix(strings.TrimSpace(have), "W/"), `"`)
			if have == "*" || strings.TrimSuffix(have, "-gzip") == tag {
				return true
			}
		}
	}
	return false
}
