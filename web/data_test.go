package web_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"mime/multipart"
	"net/textproto"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/robotmem/robotmem-go/robotmem"
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
