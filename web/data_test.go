package web_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/local"
	"github.com/robotmem/robotmem-go/web"
)

func TestMultipartPerception(t *testing.T) {
	payload := make([]byte, 256)
	for i := range payload {
		payload[i] = byte(i)
	}
	for _, tt := range []struct {
		name, part, contentType, fields string
		want                            *robotmem.SavePerceptionRequest
	}{
		{"file with type", "file", "image/png", "description=a wet glass", &robotmem.SavePerceptionRequest{Description: "a wet glass", DataBase64: payload, MediaType: "image/png"}},
		{"data without type", "data", "", "description=a wet glass;perception_type=tactile", &robotmem.SavePerceptionRequest{Description: "a wet glass", PerceptionType: "tactile", DataBase64: payload}},
		{"octet-stream says nothing", "file", "application/octet-stream", "description=a wet glass", &robotmem.SavePerceptionRequest{Description: "a wet glass", DataBase64: payload}},
		{"a field wins", "file", "image/png", `description=a wet glass;media_type=image/x-raw;context={"i":12.50}`, &robotmem.SavePerceptionRequest{Description: "a wet glass", DataBase64: payload, MediaType: "image/x-raw", Context: robotmem.Object{"i": json.Number("12.50")}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := &stub{}
			body, contentType := form(t, tt.part, tt.contentType, tt.fields, payload)
			res := do(web.NewServer(s, web.Options{}).Handler, "POST", "/api/perceptions", body, "Content-Type: "+contentType)
			if res.StatusCode != 200 {
				t.Fatalf("%s %s", res.Status, bodyOf(t, res))
			}
			if diff := cmp.Diff(tt.want, s.got); diff != "" {
				t.Errorf("request (-want +got):\n%s", diff)
			}
		})
	}
	t.Run("unknown field", func(t *testing.T) {
		body, contentType := form(t, "file", "", "descripton=a wet glass", payload)
		p := problemOf(t, do(web.NewServer(&stub{}, web.Options{}).Handler, "POST", "/api/perceptions", body, "Content-Type: "+contentType))
		if p.Kind != robotmem.Invalid || p.Field != "descripton" {
			t.Errorf("got %+v", p)
		}
	})
	t.Run("cut off", func(t *testing.T) {
		body, contentType := form(t, "file", "", "description=a wet glass", payload)
		p := problemOf(t, do(web.NewServer(&stub{}, web.Options{}).Handler, "POST", "/api/perceptions", body[:80], "Content-Type: "+contentType)) // within a field; TestFormsThatAreNone cuts payloads off
		if p.Status != 400 || p.Op != "save_perception" {
			t.Errorf("got %+v", p)
		}
	})
}

// form is a multipart body; fields are "name=value;name=value".
func form(t *testing.T, part, contentType, fields string, payload []byte) (body, header string) {
	t.Helper()
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	for f := range strings.SplitSeq(fields, ";") {
		k, v, _ := strings.Cut(f, "=")
		if err := w.WriteField(k, v); err != nil {
			t.Fatal(err)
		}
	}
	h := textproto.MIMEHeader{"Content-Disposition": {fmt.Sprintf(`form-data; name=%q; filename="x.bin"`, part)}}
	if contentType != "" {
		h.Set("Content-Type", contentType)
	}
	p, err := w.CreatePart(h)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Write(payload); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String(), w.FormDataContentType()
}

func TestDataIsBytes(t *testing.T) {
	d := &robotmem.DataResponse{MemoryID: 7, MediaType: "image/png", Bytes: 5, SHA256: "abc", DataBase64: []byte("\x00\x01\xff<>")}
	h := web.NewServer(&stub{data: d}, web.Options{}).Handler
	res := do(h, "GET", "/api/memory/7/data", "")
	if got := bodyOf(t, res); got != string(d.DataBase64) {
		t.Errorf("got %q", got)
	}
	for k, want := range map[string]string{"Content-Type": "image/png", "Etag": `"abc"`, "X-Content-Type-Options": "nosniff", "Content-Disposition": "", "Accept-Ranges": "bytes", "Content-Length": "5"} {
		if got := res.Header.Get(k); got != want {
			t.Errorf("%s: %q, want %q", k, got, want)
		}
	}
	res = do(h, "GET", "/api/memory/7/data", "", "Range: bytes=1-2")
	if got := bodyOf(t, res); res.StatusCode != 206 || got != "\x01\xff" {
		t.Errorf("range: %s %q", res.Status, got)
	}
	if res = do(h, "GET", "/api/memory/7/data", "", `If-None-Match: "abc"`); res.StatusCode != 304 {
		t.Errorf("unchanged: %s", res.Status)
	}
	if res = do(h, "HEAD", "/api/memory/7/data", ""); res.StatusCode != 200 || bodyOf(t, res) != "" {
		t.Errorf("head: %s", res.Status)
	}
	res = do(h, "GET", "/api/memory/7/data", "", "Accept: application/json")
	var got robotmem.DataResponse
	if err := json.Unmarshal([]byte(bodyOf(t, res)), &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(*d, got); diff != "" {
		t.Errorf("as JSON (-want +got):\n%s", diff)
	}
}

func TestDataThatCouldRunIsAttached(t *testing.T) {
	for mediaType, want := range map[string]string{
		"text/html": "text/html", "image/svg+xml": "image/svg+xml", "application/pdf": "application/pdf",
		"x\r\nSet-Cookie: a=b": "application/octet-stream", "": "application/octet-stream",
	} {
		h := web.NewServer(&stub{data: &robotmem.DataResponse{MemoryID: 7, MediaType: mediaType}}, web.Options{}).Handler
		res := do(h, "GET", "/api/memory/7/data", "")
		if got := res.Header.Get("Content-Type"); got != want || !strings.HasPrefix(res.Header.Get("Content-Disposition"), "attachment") || res.Header.Get("Set-Cookie") != "" {
			t.Errorf("%q: %v", mediaType, res.Header)
		}
	}
}

// The header Idempotency-Key names a call, as its field request_id does.
func TestIdempotencyKey(t *testing.T) {
	memory, err := local.Open(t.Context(), filepath.Join(t.TempDir(), "m.db"), local.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer memory.Close()
	h, n := web.NewServer(memory, web.Options{}).Handler, 0
	learnt := func(text string, headers ...string) (status int, id int64) {
		n++
		res := do(h, "POST", "/api/learn", fmt.Sprintf(`{"insight":%q}`, text), headers...)
		var got robotmem.LearnResponse
		if body := bodyOf(t, res); res.StatusCode == 200 {
			if err := json.Unmarshal([]byte(body), &got); err != nil {
				t.Fatal(err)
			}
		}
		if got.Status == "duplicate" {
			t.Errorf("call %d was a sighting", n)
		}
		return res.StatusCode, got.MemoryID
	}
	_, first := learnt("the door opens inwards", "Idempotency-Key: 7f")
	if _, again := learnt("the door opens inwards", "Idempotency-Key: 7f"); again != first {
		t.Errorf("the same key: memory %d, want %d", again, first)
	}
	// As a string of structured fields (RFC 8941).
	if _, again := learnt("the door opens inwards", `Idempotency-Key: "7f"`); again != first {
		t.Errorf("the same key in quotes: memory %d, want %d", again, first)
	}
	if status, _ := learnt("the door opens outwards", "Idempotency-Key: 7f"); status != 409 {
		t.Errorf("another call with the key: status %d, want 409", status)
	}
	// Where it would have no effect it is refused, and operations that need no name ignore it.
	for target, body := range map[string]string{"/api/learn/batch": `{"items":[{"insight":"x"}]}`, "/api/sessions": `{}`} {
		if res := do(h, "POST", target, body, "Idempotency-Key: 9f"); res.StatusCode != 400 {
			t.Errorf("%s with a key: status %d, want 400", target, res.StatusCode)
		}
	}
	if res := do(h, "POST", "/api/recall", `{"query":"door"}`, "Idempotency-Key: 7f"); res.StatusCode != 200 {
		t.Errorf("recall with a key: status %d", res.StatusCode)
	}

	// The same in a form, whose payload is a part of the call.
	save := func(text string) (*http.Response, string) {
		body, contentType := form(t, "data", "text/csv", "description=a trace", []byte(text))
		res := do(h, "POST", "/api/perceptions", body, "Content-Type: "+contentType, "Idempotency-Key: 8f")
		return res, bodyOf(t, res)
	}
	_, one := save("t,fx\n1,2\n")
	if _, two := save("t,fx\n1,2\n"); two != one {
		t.Errorf("the same form: %s, want %s", two, one)
	}
	if res, problem := save("t,fx\n1,3\n"); res.StatusCode != 409 {
		t.Errorf("another payload: %s", problem)
	}
}
