package web_test

import (
	"context"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/web"
)

// A request for which there is no memory is refused with 503, a small one is served
// meanwhile, and both are served once the large one has left.
func TestRequestsShareTheirMemory(t *testing.T) {
	t.Parallel()
	_, url := serveNode(t, web.Options{Memory: 1 << 20, Timeout: time.Second})
	large := `{"query":"x","like":{"data":"` + strings.Repeat("x", 900_000) + `"}}`
	slow, err := new(net.Dialer).DialContext(t.Context(), "tcp", strings.TrimPrefix(url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer slow.Close()
	if _, err := slow.Write([]byte("POST /api/recall HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000\r\n\r\n" + large)); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	trickled := make(chan struct{})
	go func() {
		defer close(trickled)
		for ; ctx.Err() == nil; time.Sleep(100 * time.Millisecond) {
			_, _ = slow.Write([]byte(" "))
		}
	}()
	refused := false
	for range 20 { // until the body of the slow client has arrived
		res, body := askBody(t, "POST", url+"/api/recall", large, "Content-Type: application/json")
		if refused = res.StatusCode == http.StatusServiceUnavailable; refused {
			if res.Header.Get("Retry-After") == "" || !strings.Contains(body, "unavailable") || !strings.Contains(body, "try again") {
				t.Errorf("%v %s", res.Header, body)
			}
			break
		}
	}
	if !refused {
		t.Error("no request was refused")
	}
	small := func() int {
		res, _ := askBody(t, "POST", url+"/api/recall", `{"query":"x"}`, "Content-Type: application/json")
		return res.StatusCode
	}
	if got := small(); got != 200 {
		t.Errorf("a small request: %d", got)
	}
	stop()
	<-trickled
	_ = slow.Close()
	for range 50 {
		if res, _ := askBody(t, "POST", url+"/api/recall", large, "Content-Type: application/json"); res.StatusCode == 400 { // no such data is comparable
			return
		}
	}
	t.Error("a large request is still refused")
}

// Only an operation with items or a payload takes more than MaxRequest.
func TestRequestsWithoutAPayloadAreSmall(t *testing.T) {
	node := web.NewServer(&stub{}, web.Options{}).Handler
	for op, refused := range map[string]bool{"learn": true, "update": true, "start_session": true, "save_perception": false, "learn_batch": false} {
		o := robotmem.OpByName(op)
		body := `{"items":[{}]}`
		if op != "learn_batch" {
			body = `{"data":"x"}`
		}
		res := do(node, o.Method(), strings.ReplaceAll(o.Path(), "{memory_id}", "1"), strings.Repeat(" ", robotmem.MaxRequest/2)+body+strings.Repeat(" ", robotmem.MaxRequest/2))
		if got := res.StatusCode == http.StatusRequestEntityTooLarge; got != refused {
			t.Errorf("%s: %d %s", op, res.StatusCode, bodyOf(t, res))
		}
	}
}
