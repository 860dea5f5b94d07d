package web_test

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/local"
	"github.com/robotmem/robotmem-go/web"
)

// FuzzHTTP sends random queries, bodies, media types, ranges and conditions to every
// route. No request causes an internal error, and each refusal is a problem document
// that says what to do.
func FuzzHTTP(f *testing.F) {
	ops := robotmem.Ops()
	index := func(name string) uint8 { return uint8(slices.Index(ops, robotmem.OpByName(name))) }
	const form = "multipart/form-data; boundary=b"
	for _, seed := range []struct{ op, query, body, mediaType, header string }{
		{"recall", "", `{"query":"wet glass"}`, "application/json", ""},
		{"list", "limit=1&tags=red,blue&cursor=x&days=1e3", "", "", ""},
		{"search", "q=%zz&top_k=-1&explain", "", "", ""},
		{"places", `field=spatial.position&min=[0,0]&max=1,1&context_filter={"a":1}`, "", "", ""},
		{"data", "", "", "", "bytes=0-3,5-,-2"}, {"data", "", "", "", "bytes=18446744073709551616-"}, {"preview", "width=16&height=4096", "", "", "bytes=-1"},
		{"save_perception", "description=in+the+query", "--b\r\nContent-Disposition: form-data; name=\"description\"\r\n\r\na trace of force\r\n--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"f.csv\"\r\nContent-Type: text/csv\r\n\r\nt,fz\n0,1\r\n--b--\r\n", form, ""},
		{"save_perception", "", "--b\r\nContent-Disposition: form-data; name=\"data\"\r\n\r\nhalf", form, ""},
		{"save_perception", "", "--b--", `multipart/form-data; boundary=""`, ""},
		{"learn", "insight=x&context=[]", "\xff", "application/json; charset=latin1", ""},
		{"forget", "reason=", "{}", "text/plain", ""}, {"update", "memory_id=2", `{"memory_id":3,"new_content":"x"}`, "application/json", `"x"`},
		{"end_session", "", "null", "application/json", ""}, {"changes", "since=0&wait_ms=60000", "", "", ""}, {"samples", "from=NaN&points=1e9", "", "", ""},
	} {
		f.Add(index(seed.op), seed.query, []byte(seed.body), seed.mediaType, seed.header, false)
		f.Add(index(seed.op), seed.query, []byte(seed.body), seed.mediaType, seed.header, true)
	}
	e, err := local.Open(context.Background(), filepath.Join(f.TempDir(), "memory.db"), local.Options{Durability: local.DurabilityNormal, MaxStream: 1 << 20})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { _ = e.Close() })
	if _, err := e.SavePerception(f.Context(), &robotmem.SavePerceptionRequest{Description: "a trace of force", Data: "t,fz\n0,1\n1,2\n"}); err != nil {
		f.Fatal(err)
	}
	node := web.NewServer(e, web.Options{MaxBody: 1 << 20}).Handler
	f.Fuzz(func(t *testing.T, op uint8, query string, body []byte, mediaType, header string, events bool) {
		o := ops[int(op)%len(ops)]
		if o.Name == "repair" || o.Name == "retain" {
			t.Skip("long, and takes the payload away")
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		r := httptest.NewRequestWithContext(ctx, o.Method(), "/", bytes.NewReader(body))
		r.URL = &url.URL{Path: wildcard.ReplaceAllString(o.Path(), "1"), RawQuery: query}
		r.Host = "localhost"
		for name, value := range map[string]string{"Content-Type": mediaType, "Range": header, "If-None-Match": header, "If-Range": header} {
			if value != "" {
				r.Header.Set(name, value)
			}
		}
		if events {
			r.Header.Set("Accept", "text/event-stream")
		}
		w := httptest.NewRecorder()
		node.ServeHTTP(w, r)
		checkAnswer(t, o, w.Result(), w.Body.Bytes())
	})
}

func checkAnswer(t *testing.T, o *robotmem.Op, res *http.Response, body []byte) {
	t.Helper()
	switch mediaType := res.Header.Get("Content-Type"); {
	case res.StatusCode >= http.StatusInternalServerError && res.StatusCode != http.StatusServiceUnavailable:
		t.Errorf("%s answers %d: %s", o.Name, res.StatusCode, body)
	case res.StatusCode >= http.StatusBadRequest:
		var p struct{ Kind, Detail string }
		if err := json.Unmarshal(body, &p); err != nil || mediaType != "application/problem+json" || p.Detail == "" || p.Kind == "internal" || p.Kind == "corrupt" {
			t.Errorf("%s answers %d as %s: %s", o.Name, res.StatusCode, mediaType, body)
		}
	case strings.HasPrefix(mediaType, "text/event-stream"):
		if !bytes.Contains(body, []byte("event: result")) && !bytes.Contains(body, []byte("event: problem")) || bytes.Contains(body, []byte(`"kind":"internal"`)) {
			t.Errorf("%s ends a stream with %s", o.Name, body)
		}
	case strings.HasPrefix(mediaType, "application/json"):
		if !json.Valid(body) {
			t.Errorf("%s answers no JSON: %s", o.Name, body)
		}
	}
}
