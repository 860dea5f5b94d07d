package client_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/client"
)

func serveFunc(t *testing.T, h http.HandlerFunc) *client.Client {
	t.Helper()
	ts := httptest.NewServer(h)
	t.Cleanup(ts.Close)
	return client.New(ts.URL, client.Options{HTTP: ts.Client()})
}

// A node may answer with wrong bytes of a payload.
func TestDataThatIsNotWhatWasSaved(t *testing.T) {
	data := bytes.Repeat([]byte("payload "), 100_000)
	digest := sha256.Sum256(data)
	good := `"` + hex.EncodeToString(digest[:]) + `"`
	for _, tt := range []struct {
		name, etag string
		send       []byte
		length     int
		kind       robotmem.Kind // "" if it is well
	}{
		{"as it was", good, data, len(data), ""},
		{"a weak tag of a proxy", "W/" + good, data, len(data), ""},
		{"one byte is another", good, append(bytes.Clone(data[1:]), 'x'), len(data), robotmem.Corrupt},
		{"cut off", good, data[:len(data)/2], len(data), robotmem.Unavailable},
		{"no checksum", "", data, len(data), robotmem.Unavailable},
		{"another checksum", `"v1"`, data, len(data), robotmem.Unavailable},
		{"no length", good, data, -1, robotmem.Unavailable},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := serveFunc(t, func(w http.ResponseWriter, r *http.Request) {
				if r.Header.Get("Accept-Encoding") != "identity" || r.Header.Get("Accept") == "application/json" {
					t.Errorf("asked with %v", r.Header)
				}
				w.Header().Set("ETag", tt.etag)
				if tt.length >= 0 {
					w.Header().Set("Content-Length", strconv.Itoa(tt.length))
				}
				_, _ = w.Write(tt.send)
			})
			d, err := c.OpenData(t.Context(), &robotmem.MemoryRequest{MemoryID: 7})
			if err == nil {
				defer d.Close()
				var got []byte
				if got, err = io.ReadAll(d); err == nil && !bytes.Equal(got, data) {
					t.Errorf("%d other bytes were passed on", len(got))
				}
			}
			if tt.kind == "" && err != nil || tt.kind != "" && !errors.Is(err, tt.kind) {
				t.Errorf("got %v, want %q", err, tt.kind)
			}
			if tt.name == "cut off" && !strings.Contains(err.Error(), "ended after 400000 of 800000 bytes") {
				t.Errorf("got %v, want it to say where", err)
			}
		})
	}
}

// endless never ends and counts the bytes that were read.
type endless struct{ read atomic.Int64 }

func (e *endless) Read(p []byte) (int, error) {
	e.read.Add(int64(len(p)))
	return len(p), nil
}

func TestUploadEndsWithAnEarlyAnswer(t *testing.T) {
	c := serveFunc(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.ReadFull(r.Body, make([]byte, 100<<10))
		w.Header().Set("Content-Type", "application/problem+json")
		w.WriteHeader(http.StatusRequestEntityTooLarge)
		_, _ = io.WriteString(w, `{"kind":"too_large","field":"data","detail":"is over 1 bytes","op":"save_perception"}`)
	})
	src := &endless{}
	_, err := c.SavePerceptionFrom(t.Context(), &robotmem.SavePerceptionRequest{Description: "without an end"}, src)
	if e := (*robotmem.Error)(nil); !errors.As(err, &e) || e.Kind != robotmem.TooLarge || e.Field != "data" {
		t.Errorf("got %v", err)
	}
	if n := src.read.Load(); n > 64<<20 {
		t.Errorf("%d bytes were read for nothing", n)
	}
}

func TestUploadToNoNode(t *testing.T) {
	c := client.New("http://127.0.0.1:1", client.Options{})
	_, err := c.SavePerceptionFrom(t.Context(), &robotmem.SavePerceptionRequest{Description: "to nobody"}, &endless{})
	if !errors.Is(err, robotmem.Unavailable) || !strings.Contains(err.Error(), "robotmem web") {
		t.Errorf("got %v", err)
	}
	if _, err := c.OpenData(t.Context(), &robotmem.MemoryRequest{MemoryID: 7}); !errors.Is(err, robotmem.Unavailable) {
		t.Errorf("got %v", err)
	}
}

// A reader that is closed before its end is an error, whatever error it gives.
func TestPayloadThatIsCutOff(t *testing.T) {
	c := serveFunc(t, func(w http.ResponseWriter, r *http.Request) {
		if _, err := io.Copy(io.Discard, r.Body); err == nil {
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, `{"status":"created","memory_id":1}`)
		}
	})
	in, out := io.Pipe()
	go func() {
		_, _ = out.Write(make([]byte, 1000))
		in.Close()
	}()
	if res, err := c.SavePerceptionFrom(t.Context(), &robotmem.SavePerceptionRequest{Description: "cut off"}, in); err == nil {
		t.Errorf("a payload that was cut off is stored as %+v", res)
	}
}
