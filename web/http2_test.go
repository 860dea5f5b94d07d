package web_test

import (
	"bytes"
	"crypto/tls"
	"net/http/httptest"
	"runtime"
	"testing"

	"github.com/robotmem/robotmem-go/web"
	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// A client that opens streams and resets them at once costs no more goroutines than one
// that waits for its answers.
func TestHTTP2RapidReset(t *testing.T) {
	srv := httptest.NewUnstartedServer(nil)
	srv.Config, srv.EnableHTTP2 = web.NewServer(&stub{}, web.Options{}), true
	srv.StartTLS()
	defer srv.Close()
	before := runtime.NumGoroutine()
	conn, err := tls.Dial("tcp", srv.Listener.Addr().String(), &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"h2"}})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	var head bytes.Buffer
	fields := hpack.NewEncoder(&head)
	for name, value := range map[string]string{":method": "GET", ":scheme": "https", ":authority": "localhost", ":path": "/healthz"} {
		if err := fields.WriteField(hpack.HeaderField{Name: name, Value: value, Sensitive: true}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := conn.Write([]byte(http2.ClientPreface)); err != nil {
		t.Fatal(err)
	}
	gone := make(chan struct{})
	go func() { // the answers are read, so that the server does not wait for the client
		defer close(gone)
		_, _ = conn.Read(make([]byte, 1))
		for buf := make([]byte, 1<<16); err == nil; _, err = conn.Read(buf) {
		}
	}()
	f, most, sent := http2.NewFramer(conn, nil), 0, 0
	werr := f.WriteSettings()
	for ; sent < 20_000 && werr == nil; sent++ {
		id := uint32(2*sent + 1)
		if werr = f.WriteHeaders(http2.HeadersFrameParam{StreamID: id, BlockFragment: head.Bytes(), EndStream: true, EndHeaders: true}); werr == nil {
			werr = f.WriteRSTStream(id, http2.ErrCodeCancel)
		}
		most = max(most, runtime.NumGoroutine()-before)
	}
	t.Logf("%d streams, at most %d more goroutines, then %v", sent, most, werr)
	if most > 300 { // 100 streams at a time
		t.Errorf("%d more goroutines", most)
	}
	_ = conn.Close()
	<-gone
}
