package web_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"image"
	_ "image/jpeg"
	_ "image/png"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"net/textproto"
	"path/filepath"
	"strings"
	"testing"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/local"
	"github.com/robotmem/robotmem-go/web"
)

// serveEngine runs a node with its own file.
func serveEngine(t *testing.T, o local.Options, w web.Options) (*local.Node, *httptest.Server) {
	t.Helper()
	return serveFile(t, filepath.Join(t.TempDir(), "memory.db"), o, w)
}

func serveFile(t *testing.T, path string, o local.Options, w web.Options) (*local.Node, *httptest.Server) {
	t.Helper()
	e, err := local.Open(t.Context(), path, o)
	if err != nil {
		t.Fatal(err)
	}
	ts := httptest.NewServer(web.NewServer(e, w).Handler)
	t.Cleanup(func() {
		ts.Close()
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return e, ts
}

// ask sends a request to a node and reads the answer whole; headers are "Name: value".
func ask(t *testing.T, method, url string, body io.Reader, headers ...string) (*http.Response, []byte) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, body)
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range headers {
		k, v, _ := strings.Cut(line, ": ")
		if k == "Host" {
			req.Host = v
		}
		req.Header.Set(k, v)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res, data
}

// asJSON and asForm are the two ways to save a payload.
func asJSON(t *testing.T, s sample) (io.Reader, string) {
	fields := map[string]any{"description": "sample: " + s.name, "data_base64": s.data}
	if s.declared != "" {
		fields["media_type"] = s.declared
	}
	if s.metadata != nil {
		fields["metadata"] = s.metadata
	}
	return bytes.NewReader(jsonOf(t, fields)), "application/json"
}

func asForm(t *testing.T, s sample) (io.Reader, string) {
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	fields := map[string]string{"description": "sample: " + s.name}
	if s.metadata != nil {
		fields["metadata"] = string(jsonOf(t, s.metadata))
	}
	for name, v := range fields {
		if err := w.WriteField(name, v); err != nil {
			t.Fatal(err)
		}
	}
	h := textproto.MIMEHeader{"Content-Disposition": {`form-data; name="file"; filename="x"`}}
	if s.declared != "" {
		h.Set("Content-Type", s.declared)
	}
	p, err := w.CreatePart(h)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Write(s.data); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return &b, w.FormDataContentType()
}

func TestEveryFormatComesBackAsItWas(t *testing.T) {
	_, ts := serveEngine(t, local.Options{}, web.Options{})
	for _, s := range samples(t) {
		for way, encode := range map[string]func(*testing.T, sample) (io.Reader, string){"JSON": asJSON, "form": asForm} {
			t.Run(s.name+" as "+way, func(t *testing.T) {
				body, contentType := encode(t, s)
				res, answer := ask(t, "POST", ts.URL+"/api/perceptions", body, "Content-Type: "+contentType)
				if res.StatusCode != 200 {
					t.Fatalf("%s: %s", res.Status, answer)
				}
				var saved robotmem.SavePerceptionResponse
				if err := json.Unmarshal(answer, &saved); err != nil {
					t.Fatal(err)
				}
				want := sha256.Sum256(s.data)
				if saved.SHA256 != hex.EncodeToString(want[:]) || saved.Bytes != int64(len(s.data)) || !strings.Contains(saved.Summary, s.summary) || saved.Summary == "" {
					t.Errorf("saved %+v, want a summary of %q", saved, s.summary)
				}
				comesBack(t, fmt.Sprintf("%s/api/memory/%d", ts.URL, saved.MemoryID), s)
				drawn(t, fmt.Sprintf("%s/api/memory/%d", ts.URL, saved.MemoryID), s)
			})
		}
	}
}

// comesBack checks the bytes of a memory and their metadata.
func comesBack(t *testing.T, memory string, s sample) {
	t.Helper()
	res, got := ask(t, "GET", memory+"/data", nil)
	want := sha256.Sum256(s.data)
	if res.StatusCode != 200 || sha256.Sum256(got) != want {
		t.Errorf("data: %s, %d bytes of %d, or others", res.Status, len(got), len(s.data))
	}
	mediaType, _, err := mime.ParseMediaType(res.Header.Get("Content-Type"))
	if err != nil || mediaType != s.mediaType {
		t.Errorf("media type %q, want %q", res.Header.Get("Content-Type"), s.mediaType)
	}
	safeToOpen(t, res)
	if etag := `"` + hex.EncodeToString(want[:]) + `"`; res.Header.Get("ETag") != etag {
		t.Errorf("ETag %s, want %s", res.Header.Get("ETag"), etag)
	}
	res, answer := ask(t, "GET", memory+"/data", nil, "Accept: application/json")
	var d robotmem.DataResponse
	if err := json.Unmarshal(answer, &d); err != nil || sha256.Sum256(d.DataBase64) != want {
		t.Errorf("data as JSON: %s, %v", res.Status, err)
	}
}

// safeToOpen checks that a browser runs no script of an answer.
func safeToOpen(t *testing.T, res *http.Response) {
	t.Helper()
	h := res.Header
	if h.Get("X-Content-Type-Options") != "nosniff" || !strings.Contains(h.Get("Content-Security-Policy"), "sandbox") || !strings.Contains(h.Get("Content-Security-Policy"), "default-src 'none'") {
		t.Errorf("headers %v", h)
	}
}

// drawn checks the picture of a memory.
func drawn(t *testing.T, memory string, s sample) {
	t.Helper()
	res, picture := ask(t, "GET", memory+"/preview", nil)
	if s.preview == "" {
		if res.StatusCode != 404 || res.Header.Get("Content-Type") != "application/problem+json" {
			t.Errorf("preview: %s %s, want 404", res.Status, res.Header.Get("Content-Type"))
		}
		return
	}
	if res.StatusCode != 200 || res.Header.Get("Content-Type") != s.preview {
		t.Fatalf("preview: %s %s, want %s", res.Status, res.Header.Get("Content-Type"), s.preview)
	}
	safeToOpen(t, res)
	if s.preview == "image/svg+xml" {
		if err := wellFormed(picture); err != nil || !bytes.Contains(picture, []byte("<svg")) {
			t.Errorf("preview: no SVG: %v", err)
		}
		return
	}
	c, kind, err := image.DecodeConfig(bytes.NewReader(picture))
	if err != nil || "image/"+kind != s.preview || c.Width < 1 || c.Width > 640 || c.Height < 1 || c.Height > 360 {
		t.Errorf("preview: %s of %dx%d: %v", kind, c.Width, c.Height, err)
	}
	if _, _, err := image.Decode(bytes.NewReader(picture)); err != nil {
		t.Errorf("preview: %v", err)
	}
}

func wellFormed(data []byte) error {
	for dec := xml.NewDecoder(bytes.NewReader(data)); ; {
		if _, err := dec.Token(); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
	}
}
