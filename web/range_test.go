package web_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"mime"
	"mime/multipart"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/local"
	"github.com/robotmem/robotmem-go/web"
)

func save(t *testing.T, e *local.Node, r *robotmem.SavePerceptionRequest) *robotmem.SavePerceptionResponse {
	t.Helper()
	res, err := e.SavePerception(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// Ranges of a payload in the database, of one in a plain file, and of one in
// compressed blocks.
func TestDataInRanges(t *testing.T) {
	e, ts := serveEngine(t, local.Options{}, web.Options{})
	for name, data := range map[string][]byte{
		"small": everyByte(3000), "plain": noise(1 << 20), "in blocks": bytes.Repeat(everyByte(250), 3<<20/250),
	} {
		t.Run(name, func(t *testing.T) {
			saved := save(t, e, &robotmem.SavePerceptionRequest{Description: "asked in ranges", DataBase64: data, MediaType: "video/mp4"})
			url := fmt.Sprintf("%s/api/memory/%d/data", ts.URL, saved.MemoryID)
			size, etag := len(data), `"`+saved.SHA256+`"`
			for _, tt := range []struct {
				name     string
				headers  []string
				status   int
				from, to int // of the bytes that come back
			}{
				{"whole", nil, 200, 0, size},
				{"the first", []string{"Range: bytes=0-0"}, 206, 0, 1},
				{"within", []string{"Range: bytes=999-2000"}, 206, 999, 2001},
				{"to the end", []string{"Range: bytes=2500-"}, 206, 2500, size},
				{"beyond the end", []string{"Range: bytes=2500-99999999"}, 206, 2500, size},
				{"the last", []string{"Range: bytes=-7"}, 206, size - 7, size},
				{"more than all", []string{"Range: bytes=-99999999"}, 206, 0, size},
				{"another unit", []string{"Range: pages=1-2"}, 416, 0, 0},
				{"no numbers", []string{"Range: bytes=a-b"}, 416, 0, 0},
				{"after the end", []string{fmt.Sprintf("Range: bytes=%d-", size)}, 416, 0, 0},
				{"backwards", []string{"Range: bytes=7-3"}, 416, 0, 0},
				{"known", []string{"If-None-Match: " + etag}, 304, 0, 0},
				{"known among others", []string{`If-None-Match: "x", W/` + etag}, 304, 0, 0},
				{"another is known", []string{`If-None-Match: "x"`}, 200, 0, size},
				{"a range of the same", []string{"Range: bytes=5-9", "If-Range: " + etag}, 206, 5, 10},
				{"a range of another", []string{"Range: bytes=5-9", `If-Range: "x"`}, 200, 0, size},
				{"only if the same", []string{"If-Match: " + etag}, 200, 0, size},
				{"only if another", []string{`If-Match: "x"`}, 412, 0, 0},
			} {
				res, got := ask(t, "GET", url, nil, tt.headers...)
				if res.StatusCode != tt.status || tt.status < 300 && !bytes.Equal(got, data[tt.from:tt.to]) {
					t.Errorf("%s: %s, %d bytes; want %d and bytes %d to %d", tt.name, res.Status, len(got), tt.status, tt.from, tt.to)
				}
				if want := fmt.Sprintf("bytes %d-%d/%d", tt.from, tt.to-1, size); tt.status == 206 && res.Header.Get("Content-Range") != want {
					t.Errorf("%s: Content-Range %q, want %q", tt.name, res.Header.Get("Content-Range"), want)
				}
				if tt.status == 416 {
					refusedRange(t, tt.name, res, got, size)
				}
				if tt.status == 412 && (res.Header.Get("Content-Type") != "application/problem+json" || !bytes.Contains(got, []byte(`"field":"If-Match"`)) || res.Header.Get("ETag") != etag) {
					t.Errorf("%s: %v %s", tt.name, res.Header, got)
				}
				head, none := ask(t, "HEAD", url, nil, tt.headers...)
				if head.StatusCode != tt.status || len(none) > 0 || tt.status < 300 && head.ContentLength != int64(tt.to-tt.from) {
					t.Errorf("%s: HEAD is %s with %d bytes, of %d", tt.name, head.Status, len(none), head.ContentLength)
				}
				safeToOpen(t, res)
			}
			severalRanges(t, url, data)
		})
	}
}

// refusedRange checks for a problem with the number of bytes.
func refusedRange(t *testing.T, name string, res *http.Response, body []byte, size int) {
	t.Helper()
	var p struct {
		Kind, Field string
		Status      int
	}
	if err := json.Unmarshal(body, &p); err != nil || p.Kind != "invalid" || p.Field != "Range" || p.Status != 416 {
		t.Errorf("%s: %+v, %v in %q", name, p, err, body)
	}
	if got, want := res.Header.Get("Content-Range"), fmt.Sprintf("bytes */%d", size); got != want {
		t.Errorf("%s: Content-Range %q, want %q", name, got, want)
	}
	if got := res.Header.Get("Content-Type"); got != "application/problem+json" {
		t.Errorf("%s: Content-Type %q", name, got)
	}
}

func TestNoBytesHaveNoRange(t *testing.T) {
	e, ts := serveEngine(t, local.Options{}, web.Options{})
	saved := save(t, e, &robotmem.SavePerceptionRequest{Description: "no bytes at all", DataBase64: []byte{}})
	for _, asked := range []string{"bytes=-1", "bytes=0-0", "bytes=5-"} {
		res, body := ask(t, "GET", fmt.Sprintf("%s/api/memory/%d/data", ts.URL, saved.MemoryID), nil, "Range: "+asked)
		if res.StatusCode != 200 || len(body) > 0 || res.Header.Get("Content-Range") != "" {
			t.Errorf("%s: %s, Content-Range %q, %d bytes", asked, res.Status, res.Header.Get("Content-Range"), len(body))
		}
	}
}

// The last 0 bytes are no range.
func TestNoLastBytes(t *testing.T) {
	e, ts := serveEngine(t, local.Options{}, web.Options{})
	saved := save(t, e, &robotmem.SavePerceptionRequest{Description: "some bytes", DataBase64: everyByte(16)})
	res, _ := ask(t, "GET", fmt.Sprintf("%s/api/memory/%d/data", ts.URL, saved.MemoryID), nil, "Range: bytes=-0")
	if res.StatusCode != 416 || res.Header.Get("Content-Range") != "bytes */16" {
		t.Errorf("%s, Content-Range %q", res.Status, res.Header.Get("Content-Range"))
	}
}

func severalRanges(t *testing.T, url string, data []byte) {
	t.Helper()
	res, body := ask(t, "GET", url, nil, "Range: bytes=0-9,100-199,-5")
	mediaType, params, err := mime.ParseMediaType(res.Header.Get("Content-Type"))
	if res.StatusCode != 206 || mediaType != "multipart/byteranges" || err != nil {
		t.Fatalf("%s %s", res.Status, res.Header.Get("Content-Type"))
	}
	parts := multipart.NewReader(bytes.NewReader(body), params["boundary"])
	for _, want := range [][]byte{data[:10], data[100:200], data[len(data)-5:]} {
		p, err := parts.NextPart()
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(p)
		if err != nil || !bytes.Equal(got, want) || p.Header.Get("Content-Type") != "video/mp4" {
			t.Errorf("part %s %s: %d bytes, want %d (%v)", p.Header.Get("Content-Range"), p.Header.Get("Content-Type"), len(got), len(want), err)
		}
	}
	// Overlapping ranges, which would repeat the payload many times, get it once.
	if res, body := ask(t, "GET", url, nil, "Range: bytes="+strings.Repeat("0-,", 200)+"0-"); res.StatusCode != 200 || !bytes.Equal(body, data) {
		t.Errorf("many overlapping ranges: %s, %d bytes", res.Status, len(body))
	}
}

func TestPreviewIsCached(t *testing.T) {
	e, ts := serveEngine(t, local.Options{}, web.Options{})
	saved := save(t, e, &robotmem.SavePerceptionRequest{Description: "a trace to draw", Data: string(wrench(100))})
	url := fmt.Sprintf("%s/api/memory/%d/preview", ts.URL, saved.MemoryID)
	res, first := ask(t, "GET", url, nil)
	etag := res.Header.Get("ETag")
	if res, _ := ask(t, "GET", url, nil, "If-None-Match: "+etag); res.StatusCode != 304 || etag == "" {
		t.Errorf("unchanged: %s, ETag %s", res.Status, etag)
	}
	if res, got := ask(t, "GET", url+"?width=200&height=100", nil, "If-None-Match: "+etag); res.StatusCode != 200 || res.Header.Get("ETag") == etag || bytes.Equal(got, first) {
		t.Errorf("of another size: %s, ETag %s", res.Status, res.Header.Get("ETag"))
	}
	if res, got := ask(t, "HEAD", url, nil); res.StatusCode != 200 || len(got) > 0 || res.ContentLength != int64(len(first)) {
		t.Errorf("head: %s, %d", res.Status, res.ContentLength)
	}
	if res, got := ask(t, "GET", url, nil, "Range: bytes=0-4"); res.StatusCode != 206 || !bytes.Equal(got, first[:5]) {
		t.Errorf("range: %s %q", res.Status, got)
	}
	if res, _ := ask(t, "GET", url, nil, `If-None-Match: "x"`, "Range: bytes=1000000-1000675"); res.StatusCode != 416 || res.Header.Get("Content-Type") != "application/problem+json" {
		t.Errorf("a range behind the end: %s, %s", res.Status, res.Header.Get("Content-Type"))
	}
	if res, _ := ask(t, "GET", url+"?width=15", nil); res.StatusCode != 400 {
		t.Errorf("too small: %s", res.Status)
	}
}

// A type in which a browser runs scripts is sent as a file to save.
func TestDownloadsDoNotRun(t *testing.T) {
	e, ts := serveEngine(t, local.Options{}, web.Options{})
	for _, tt := range []struct {
		declared, data, contentType string
		attached                    bool
	}{
		{"", "<!DOCTYPE html><script>alert(1)</script>", "text/html; charset=utf-8", true},
		{"text/html", "<script>alert(1)</script>", "text/html", true},
		{"application/xhtml+xml", "<html/>", "application/xhtml+xml", true},
		{"image/svg+xml", "<svg onload='alert(1)'/>", "image/svg+xml", true},
		{"IMAGE/SVG+XML; a=b", "<svg onload='alert(1)'/>", "image/svg+xml; a=b", true},
		{"text/javascript", "alert(1)", "text/javascript", true},
		{"application/pdf", "%PDF-1.7", "application/pdf", true},
		{"text/xml", "<a/>", "text/xml", true},
		{"multipart/related; boundary=x", "x", "multipart/related; boundary=x", true},
		{"image/png", "<script>alert(1)</script>", "image/png", false},
		{"text/plain", "<script>alert(1)</script>", "text/plain", false},
	} {
		saved := save(t, e, &robotmem.SavePerceptionRequest{Description: "opened in a browser", Data: tt.data, MediaType: tt.declared})
		res, got := ask(t, "GET", fmt.Sprintf("%s/api/memory/%d/data", ts.URL, saved.MemoryID), nil)
		disposition := res.Header.Get("Content-Disposition")
		if res.Header.Get("Content-Type") != tt.contentType || strings.HasPrefix(disposition, "attachment; filename=") != tt.attached || string(got) != tt.data {
			t.Errorf("%s: %q, disposition %q", tt.declared, res.Header.Get("Content-Type"), disposition)
		}
		safeToOpen(t, res)
	}
}

// A damaged payload must not be sent as if it were complete.
func TestDamagedDataEndsTheAnswer(t *testing.T) {
	var log bytes.Buffer
	path := filepath.Join(t.TempDir(), "memory.db")
	e, ts := serveFile(t, path, local.Options{}, web.Options{Logger: slog.New(slog.NewTextHandler(&log, nil))})
	saved := save(t, e, &robotmem.SavePerceptionRequest{Description: "soon damaged", DataBase64: noise(1 << 20)})
	flipped := 0
	err := filepath.WalkDir(path+".payloads", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		if err == nil && len(data) > 1<<19 {
			data[700_000] ^= 1
			flipped++
			err = os.WriteFile(path, data, 0o600)
		}
		return err
	})
	if err != nil || flipped != 1 {
		t.Fatalf("%d files damaged: %v", flipped, err)
	}
	req, err := http.NewRequestWithContext(t.Context(), "GET", fmt.Sprintf("%s/api/memory/%d/data", ts.URL, saved.MemoryID), nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	got, err := io.ReadAll(res.Body)
	if !errors.Is(err, io.ErrUnexpectedEOF) || len(got) >= 1<<20 {
		t.Errorf("%d bytes came, error %v", len(got), err)
	}
	ts.Close() // the handler has ended, and written its line
	if !strings.Contains(log.String(), "damaged") || !strings.Contains(log.String(), saved.SHA256) {
		t.Errorf("the log says %q", log.String())
	}
}
