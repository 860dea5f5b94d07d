package web_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"mime/multipart"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/admin"
	"github.com/robotmem/robotmem-go/robotmem/local"
	"github.com/robotmem/robotmem-go/robotmem/robotmemtest/rounds"
	"github.com/robotmem/robotmem-go/web"
)

// uploads is a node whose files on the disk are checked.
type uploads struct {
	*httptest.Server
	engine *local.Node
	path   string // of the memory
	temp   string // folder of temporary files
}

func serveUploads(t *testing.T, o local.Options, w web.Options) *uploads {
	t.Helper()
	path := filepath.Join(t.TempDir(), "memory.db")
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	t.Setenv("TMP", temp) // its name on Windows
	e, ts := serveFile(t, path, o, w)
	return &uploads{ts, e, path, temp}
}

// part is a part of a form: a field, or the payload if it has a file's name.
type part struct{ name, value string }

const boundary = "xxBOUNDARYxx"

// post sends the parts in order.
func (u *uploads) post(t *testing.T, parts ...part) (*http.Response, []byte) {
	t.Helper()
	return ask(t, "POST", u.URL+"/api/perceptions", strings.NewReader(encodeParts(t, parts)), "Content-Type: multipart/form-data; boundary="+boundary)
}

func encodeParts(t *testing.T, parts []part) string {
	t.Helper()
	var b strings.Builder
	w := multipart.NewWriter(&b)
	if err := w.SetBoundary(boundary); err != nil {
		t.Fatal(err)
	}
	for _, p := range parts {
		if err := w.WriteField(p.name, p.value); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// files returns the payload files and the temporary files.
func (u *uploads) files(t *testing.T) (out []string) {
	t.Helper()
	for _, dir := range []string{u.path + ".payloads", u.temp} {
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if os.IsNotExist(err) {
				return nil
			}
			if err == nil && !d.IsDir() {
				out = append(out, path)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// nothingStored checks that a refused upload left no files.
func (u *uploads) nothingStored(t *testing.T) {
	t.Helper()
	st, err := u.engine.Stats(t.Context(), &admin.StatsRequest{})
	if err != nil || st.Total != 0 || st.PayloadBytes != 0 {
		t.Errorf("%d memories, %d bytes of payloads (%v), want none", st.Total, st.PayloadBytes, err)
	}
	if left := u.files(t); len(left) > 0 {
		t.Errorf("left on the disk: %v", left)
	}
}

func asProblem(t *testing.T, res *http.Response, body []byte) problem {
	t.Helper()
	var p problem
	if err := json.Unmarshal(body, &p); err != nil || res.Header.Get("Content-Type") != "application/problem+json" || p.Status != res.StatusCode {
		t.Fatalf("%s %s: %v", res.Status, body, err)
	}
	return p
}

var description = part{"description", "a view of the drawer"}

func TestUpload(t *testing.T) {
	u := serveUploads(t, local.Options{}, web.Options{})
	large := string(noise(700 << 10))
	for _, tt := range []struct {
		name  string
		parts []part
		files int // beside the memory: large payloads only
	}{
		{"fields first", []part{description, {"metadata", `{"rate_hz":12.50}`}, {"file", "small"}}, 0},
		{"as data", []part{{"metadata", `{"rate_hz":12.50}`}, description, {"data", "small"}}, 0},
		{"large, fields first", []part{description, {"metadata", `{"rate_hz":12.50}`}, {"file", large}}, 1},
		{"no payload", []part{description, {"metadata", `{"rate_hz":12.50}`}}, 1},
		{"empty payload", []part{description, {"metadata", `{"rate_hz":12.50}`}, {"file", ""}}, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			res, body := u.post(t, tt.parts...)
			var saved robotmem.SavePerceptionResponse
			if err := json.Unmarshal(body, &saved); err != nil || res.StatusCode != 200 {
				t.Fatalf("%s %s", res.Status, body)
			}
			want, given := "", false
			for _, p := range tt.parts {
				if p.name == "file" || p.name == "data" {
					want, given = p.value, true
				}
			}
			m, err := u.engine.Get(t.Context(), &robotmem.MemoryRequest{MemoryID: saved.MemoryID})
			if err != nil || m.Content != description.value || m.Metadata["rate_hz"] != json.Number("12.50") || (m.SHA256 != "") != given {
				t.Errorf("%+v, %v", m, err)
			}
			if given {
				if _, got := ask(t, "GET", fmt.Sprintf("%s/api/memory/%d/data", u.URL, saved.MemoryID), nil); string(got) != want {
					t.Errorf("%d bytes came back of %d", len(got), len(want))
				}
			}
			if left := u.files(t); len(left) != tt.files {
				t.Errorf("on the disk: %v, want %d", left, tt.files)
			}
		})
	}
}

func TestBadUploadsStoreNothing(t *testing.T) {
	u := serveUploads(t, local.Options{MaxStream: 1 << 20}, web.Options{})
	large := string(noise(600 << 10))
	var fields, many []part
	for i := range 30 {
		fields = append(fields, part{"context", `{"x":"` + strings.Repeat("y", 100<<10) + `"}`})
		many = append(many, part{"source", fmt.Sprint(i)}, part{"origin", "x"}, part{"media_type", "text/csv"})
	}
	for _, tt := range []struct {
		name   string
		parts  []part
		status int
		field  string
		detail string
	}{
		{"field after a streamed payload", []part{description, {"file", large}, {"source", "camera"}}, 400, "data", "the field source comes after the payload; send the payload last"},
		{"field after a small one", []part{description, {"file", "x"}, {"source", "camera"}}, 400, "data", "the field source comes after the payload"},
		{"two payloads", []part{description, {"file", large}, {"data", "x"}}, 400, "data", "more than one part with a payload"},
		{"payload first", []part{{"file", large}, description}, 400, "description", "send all fields first"},
		{"a payload beside a path", []part{description, {"path", "/etc/hostname"}, {"file", "x"}}, 400, "data", "at most one"},
		{"no description", []part{{"file", large}}, 400, "description", "required"},
		{"no parts", nil, 400, "description", "required"},
		{"unknown field", []part{description, {"descripton", "x"}, {"file", "x"}}, 400, "descripton", "unknown field"},
		{"field without a name", []part{description, {"", "x"}, {"file", "x"}}, 400, "", "unknown field"},
		{"bad field", []part{description, {"metadata", "{"}, {"file", large}}, 400, "metadata", "JSON"},
		{"unknown session", []part{description, {"session_id", "01890a5d-ac96-774b-bcce-b302099a8057"}, {"file", large}}, 404, "session_id", ""},
		{"bad media type", []part{description, {"media_type", "nonsense"}, {"file", large}}, 400, "media_type", ""},
		{"field that is no text", []part{description, {"source", "a\xff"}, {"file", "x"}}, 400, "source", "UTF-8"},
		{"huge field", []part{description, {"metadata", strings.Repeat("y", 3<<20)}, {"file", "x"}}, 413, "metadata", "2097152 bytes"},
		{"huge fields together", append(fields, description), 413, "context", "2097152 bytes"},
		{"many parts", append(many, description), 400, "", "more than 64 parts"},
		{"over the limit", []part{description, {"file", strings.Repeat(large, 2)}}, 413, "data", "1048576 bytes"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			res, body := u.post(t, tt.parts...)
			p := asProblem(t, res, body)
			if p.Status != tt.status || p.Field != tt.field || !strings.Contains(p.Detail, tt.detail) || p.Op != "save_perception" {
				t.Errorf("got %+v", p)
			}
			u.nothingStored(t)
		})
	}
}

func TestFormsThatAreNone(t *testing.T) {
	u := serveUploads(t, local.Options{}, web.Options{})
	whole := encodeParts(t, []part{description, {"file", string(noise(600 << 10))}})
	for _, tt := range []struct{ name, contentType, body, field, detail string }{
		{"no boundary", "multipart/form-data", whole, "Content-Type", "boundary"},
		{"an empty boundary", `multipart/form-data; boundary=""`, whole, "Content-Type", "boundary"},
		{"another boundary", "multipart/form-data; boundary=other", whole, "", "reading the form"},
		{"no form", "multipart/form-data; boundary=" + boundary, "{}", "", "reading the form"},
		{"nothing", "multipart/form-data; boundary=" + boundary, "", "", "reading the form"},
		{"cut off within the payload", "multipart/form-data; boundary=" + boundary, whole[:300<<10], "data", "nothing was stored"},
		{"cut off before its end", "multipart/form-data; boundary=" + boundary, whole[:len(whole)-4], "data", "nothing was stored"},
		{"cut off within a field", "multipart/form-data; boundary=" + boundary, whole[:80], "description", "nothing was stored"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			res, body := ask(t, "POST", u.URL+"/api/perceptions", strings.NewReader(tt.body), "Content-Type: "+tt.contentType)
			p := asProblem(t, res, body)
			if p.Status != 400 || p.Field != tt.field || !strings.Contains(p.Detail, tt.detail) {
				t.Errorf("got %+v", p)
			}
			u.nothingStored(t)
		})
	}
}

func TestBrokenConnectionStoresNothing(t *testing.T) {
	u := serveUploads(t, local.Options{}, web.Options{})
	body := encodeParts(t, []part{description, {"file", string(noise(16 << 20))}})
	conn, err := net.Dial("tcp", u.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	// More than the buffers of a connection: it is being written to the disk.
	fmt.Fprintf(conn, "POST /api/perceptions HTTP/1.1\r\nHost: localhost\r\nContent-Type: multipart/form-data; boundary=%s\r\nContent-Length: %d\r\n\r\n%s", boundary, len(body), body[:15<<20])
	if len(u.files(t)) == 0 {
		t.Error("nothing is on the disk")
	}
	if err := conn.Close(); err != nil {
		t.Fatal(err)
	}
	u.Close() // waits for the request
	u.nothingStored(t)
}

// peak reads a number of random bytes and records the largest live heap meanwhile.
type peak struct {
	left, sinceLook int
	random          *rand.ChaCha8
	inUse           uint64
}

func (p *peak) Read(b []byte) (int, error) {
	if p.left == 0 {
		return 0, io.EOF
	}
	n := min(len(b), p.left)
	_, _ = p.random.Read(b[:n]) // never fails
	p.left -= n
	if p.sinceLook += n; p.sinceLook > 16<<20 {
		p.sinceLook = 0
		p.look()
	}
	return n, nil
}

func (p *peak) look() {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	p.inUse = max(p.inUse, m.HeapInuse)
}

func TestUploadTakesLittleMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("moves 120 MB")
	}
	size := int64(rounds.Of(40, 120)) << 20
	u := serveUploads(t, local.Options{}, web.Options{})
	src := &peak{left: int(size), random: rand.NewChaCha8([32]byte{7})}
	src.look()
	before := src.inUse
	out, in := io.Pipe()
	go func() {
		in.CloseWithError(func() error {
			w := multipart.NewWriter(in)
			if err := w.SetBoundary(boundary); err != nil {
				return err
			}
			if err := w.WriteField(description.name, description.value); err != nil {
				return err
			}
			p, err := w.CreateFormFile("file", "x")
			if err != nil {
				return err
			}
			if _, err := io.Copy(p, src); err != nil {
				return err
			}
			return w.Close()
		}())
	}()
	res, body := ask(t, "POST", u.URL+"/api/perceptions", out, "Content-Type: multipart/form-data; boundary="+boundary)
	var saved robotmem.SavePerceptionResponse
	if err := json.Unmarshal(body, &saved); err != nil || res.StatusCode != 200 || saved.Bytes != size {
		t.Fatalf("%s %s", res.Status, body)
	}
	src.look()
	// Decoding the beginning of a payload takes 32 MiB.
	if more := src.inUse - before; more > 80<<20 {
		t.Errorf("%d MiB more held while %d MiB passed", more>>20, size>>20)
	}
	if left, err := os.ReadDir(u.temp); err != nil || len(left) > 0 {
		t.Errorf("temporary files: %v %v", left, err)
	}
	download(t, fmt.Sprintf("%s/api/memory/%d/data", u.URL, saved.MemoryID), size)
}

// download reads a payload through a small buffer.
func download(t *testing.T, url string, size int64) {
	t.Helper()
	runtime.GC()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	req, err := http.NewRequestWithContext(t.Context(), "GET", url, nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	random, want, got := rand.NewChaCha8([32]byte{7}), make([]byte, 1<<20), make([]byte, 1<<20)
	for at := int64(0); at < size; at += 1 << 20 {
		_, _ = random.Read(want)
		if _, err := io.ReadFull(res.Body, got); err != nil || !bytes.Equal(got, want) {
			t.Fatalf("at %d: other bytes came back (%v)", at, err)
		}
	}
	runtime.ReadMemStats(&after)
	if more := after.TotalAlloc - before.TotalAlloc; more > 32<<20 {
		t.Errorf("%d MiB allocated for a download", more>>20)
	}
}
