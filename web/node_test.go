package web_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"time"

	"github.com/robotmem/robotmem-go/robotmem/admin"
	"github.com/robotmem/robotmem-go/robotmem/local"
	"github.com/robotmem/robotmem-go/robotmem/mcp"
	"github.com/robotmem/robotmem-go/web"
)

var dashboardFiles = fstest.MapFS{
	"index.html": {Data: []byte("<!doctype html><title>robotmem</title>")},
	"app.js":     {Data: []byte(strings.Repeat("console.log('memory')\n", 200))},
}

// serveNode runs a whole node (REST, dashboard and MCP) on a real listener, with the
// server that the program uses.
func serveNode(t *testing.T, o web.Options) (*local.Node, string) {
	t.Helper()
	e, err := local.Open(t.Context(), filepath.Join(t.TempDir(), "memory.db"), local.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if o.MCP == nil {
		o.MCP = mcp.NewServer(e, mcp.Options{}).Handler()
	}
	if o.UI == nil {
		o.UI = dashboardFiles
	}
	srv := web.NewServer(e, o)
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- srv.Serve(l) }()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), 20*time.Second)
		defer cancel()
		if err := srv.Shutdown(ctx); err != nil {
			t.Errorf("shutdown: %v", err)
			_ = srv.Close()
		}
		if err := <-ended; err != http.ErrServerClosed {
			t.Error(err)
		}
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return e, "http://" + l.Addr().String()
}

// entryPoints has a request for each interface of a node: a change over REST and over MCP, and the
// dashboard, with the answer that an allowed caller gets.
var entryPoints = []struct {
	name, method, path, body string
	headers                  []string
	public                   bool // asks for no token
}{
	{name: "REST", method: "POST", path: "/api/learn", body: `{"insight":"the charger is behind the door"}`, headers: []string{"Content-Type: application/json"}},
	{name: "MCP", method: "POST", path: "/mcp", body: call("learn", `{"insight":"the ramp is slippery"}`), headers: mcpHeaders},
	{name: "dashboard", method: "GET", path: "/", headers: []string{"Accept: text/html"}, public: true},
}

var mcpHeaders = []string{"Content-Type: application/json", "Accept: application/json, text/event-stream"}

func call(tool, arguments string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q,"arguments":%s}}`, tool, arguments)
}

func with(headers []string, more ...string) []string {
	return append(headers[:len(headers):len(headers)], more...)
}

func askBody(t *testing.T, method, url string, body string, headers ...string) (*http.Response, string) {
	t.Helper()
	var src io.Reader
	if body != "" {
		src = strings.NewReader(body)
	}
	res, data := ask(t, method, url, src, headers...)
	return res, string(data)
}

func total(t *testing.T, e *local.Node) int64 {
	t.Helper()
	stats, err := e.Stats(t.Context(), &admin.StatsRequest{})
	if err != nil {
		t.Fatal(err)
	}
	return stats.Total
}

func TestForeignHostsAndOriginsReachNothing(t *testing.T) {
	e, url := serveNode(t, web.Options{})
	for _, f := range entryPoints {
		for name, tt := range map[string]struct {
			header string
			field  string
		}{
			"another host":              {"Host: evil.example", "Host"},
			"a host with this prefix":   {"Host: 127.0.0.1.evil.example", "Host"},
			"another page":              {"Origin: https://evil.example", "Origin"},
			"another port's page":       {"Origin: http://127.0.0.1:1", "Origin"},
			"a sandboxed page":          {"Origin: null", "Origin"},
			"another page's fetch":      {"Sec-Fetch-Site: cross-site", "Origin"},
			"another page of this site": {"Sec-Fetch-Site: same-site", "Origin"},
		} {
			res, body := askBody(t, f.method, url+f.path, f.body, with(f.headers, tt.header)...)
			if res.StatusCode != 403 || res.Header.Get("Content-Type") != "application/problem+json" || !strings.Contains(body, `"field":"`+tt.field+`"`) {
				t.Errorf("%s, %s: %s %s", f.name, name, res.Status, body)
			}
		}
	}
	if n := total(t, e); n != 0 {
		t.Errorf("%d memories came from strangers", n)
	}
	for _, f := range entryPoints {
		if res, body := askBody(t, f.method, url+f.path, f.body, with(f.headers, "Origin: "+url, "Sec-Fetch-Site: same-origin")...); res.StatusCode != 200 {
			t.Errorf("%s, its own page: %s %s", f.name, res.Status, body)
		}
	}
	if n := total(t, e); n != 2 {
		t.Errorf("%d memories, want 2", n)
	}
}

// A body of 300 MB is refused, whether it says its size or not, and is not held
// in memory.
func TestLargeBodiesAreRefused(t *testing.T) {
	const size, limit = 300 << 20, 4 << 20
	e, url := serveNode(t, web.Options{MaxBody: limit})
	paths := []struct{ method, path, contentType string }{
		{"POST", "/api/learn", "application/json"}, {"POST", "/mcp", "application/json"}, {"POST", "/login", "application/json"},
		{"GET", "/", "text/plain"}, {"POST", "/api/learn", "multipart/form-data; boundary=x"}, {"POST", "/api/perceptions", "application/json"},
	}
	for _, p := range paths {
		for _, declared := range []int64{size, -1} {
			src := &spaces{left: size}
			req, err := http.NewRequestWithContext(t.Context(), p.method, url+p.path, src)
			if err != nil {
				t.Fatal(err)
			}
			req.ContentLength = declared
			req.Header.Set("Content-Type", p.contentType)
			req.Header.Set("Accept", "application/json, text/event-stream, text/html")
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			status := 0
			res, err := (&http.Transport{}).RoundTrip(req)
			if err == nil { // else the connection was cut while it was written
				status = res.StatusCode
				res.Body.Close()
			}
			runtime.ReadMemStats(&after)
			// 415 is answered without reading the body, and / does not read it.
			if ok := status == 0 || status == 413 || status == 415 || p.path == "/" && status == 200; !ok {
				t.Errorf("%s %s, length %d: status %d", p.method, p.path, declared, status)
			}
			if sent := src.sent.Load(); sent > 64<<20 {
				t.Errorf("%s %s, length %d: %d bytes were taken", p.method, p.path, declared, sent)
			}
			if grown := int64(after.TotalAlloc - before.TotalAlloc); grown > 10*limit {
				t.Errorf("%s %s, length %d: %d bytes of memory", p.method, p.path, declared, grown)
			}
		}
	}
	if n := total(t, e); n != 0 {
		t.Errorf("%d memories were stored", n)
	}
}

// spaces is a long body.
type spaces struct {
	left int
	sent atomic.Int64
}

func (s *spaces) Read(p []byte) (int, error) {
	if s.left == 0 {
		return 0, io.EOF
	}
	n := min(len(p), s.left)
	for i := range p[:n] {
		p[i] = ' '
	}
	s.left -= n
	s.sent.Add(int64(n))
	return n, nil
}

// dial opens a connection and sends the head of a request, without its body.
func dial(t *testing.T, url, head string) net.Conn {
	t.Helper()
	conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", strings.TrimPrefix(url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	_ = conn.SetDeadline(time.Now().Add(time.Minute)) // a server that hangs
	if _, err := io.WriteString(conn, head); err != nil {
		t.Fatal(err)
	}
	return conn
}

func head(f string, path string, lines ...string) string {
	return f + " " + path + " HTTP/1.1\r\nHost: localhost\r\n" + strings.Join(lines, "\r\n") + "\r\n\r\n"
}

// A request whose body stops is ended on every route, also on routes that do not read
// the body.
func TestBodiesThatStopAreGivenUp(t *testing.T) {
	_, url := serveNode(t, web.Options{Timeout: 200 * time.Millisecond})
	for name, tt := range map[string]struct {
		head string
		want int
	}{
		"REST":             {head("POST", "/api/learn", "Content-Type: application/json", "Content-Length: 1000"), 408},
		"REST, in chunks":  {head("POST", "/api/learn", "Content-Type: application/json", "Transfer-Encoding: chunked"), 408},
		"an upload":        {head("POST", "/api/perceptions", "Content-Type: multipart/form-data; boundary=x", "Content-Length: 1000"), 408},
		"MCP":              {head("POST", "/mcp", "Content-Type: application/json", "Accept: application/json, text/event-stream", "Content-Length: 1000"), 408},
		"login":            {head("POST", "/login", "Content-Type: application/json", "Content-Length: 1000"), 408},
		"the dashboard":    {head("GET", "/", "Accept: text/html", "Content-Length: 1000"), 200},
		"no route":         {head("POST", "/api/nope", "Content-Length: 1000"), 404},
		"a refused origin": {head("POST", "/api/learn", "Origin: https://evil.example", "Content-Length: 1000"), 403},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			conn := dial(t, url, tt.head)
			in := bufio.NewReader(conn)
			res, err := http.ReadResponse(in, nil)
			if err != nil {
				t.Fatalf("no answer: %v", err)
			}
			body, _ := io.ReadAll(res.Body)
			if res.StatusCode != tt.want {
				t.Errorf("status %d, want %d: %s", res.StatusCode, tt.want, body)
			}
			if tt.want == 408 && !strings.Contains(string(body), "too slowly") {
				t.Errorf("got %s", body)
			}
			if _, err := in.ReadByte(); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
				t.Errorf("the connection goes on: %v", err)
			}
		})
	}
}

// A body may take many times the timeout as long as it does not stop, and the request
// may take any time after that.
func TestBodiesThatKeepComingAreTaken(t *testing.T) {
	t.Parallel()
	const timeout = time.Second
	slow := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, err := io.Copy(io.Discard, r.Body)
		if err == nil {
			select {
			case <-time.After(timeout * 3 / 2):
			case <-r.Context().Done():
				err = r.Context().Err()
			}
		}
		fmt.Fprintf(w, "%v", err)
	})
	_, url := serveNode(t, web.Options{Timeout: timeout, MCP: slow})
	const pieces, size = 12, 1 << 10 // each of as many bytes as a second may bring at the least
	conn := dial(t, url, head("POST", "/mcp", fmt.Sprintf("Content-Length: %d", pieces*size)))
	for range pieces {
		time.Sleep(timeout / 8)
		if _, err := conn.Write(make([]byte, size)); err != nil {
			t.Fatal(err)
		}
	}
	res, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	if body, _ := io.ReadAll(res.Body); string(body) != "<nil>" {
		t.Errorf("got %s", body)
	}
}

// A body of single bytes with short pauses is ended as well.
func TestTricklesAreGivenUp(t *testing.T) {
	t.Parallel()
	_, url := serveNode(t, web.Options{Timeout: 300 * time.Millisecond})
	conn := dial(t, url, head("POST", "/api/learn", "Content-Type: application/json", "Content-Length: 100000"))
	go func() {
		for {
			if _, err := conn.Write([]byte(" ")); err != nil {
				return
			}
			time.Sleep(20 * time.Millisecond)
		}
	}()
	res, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	if res.StatusCode != 408 {
		t.Errorf("got %s", res.Status)
	}
}

// A client that reads nothing is disconnected, whatever the size of the answer.
func TestReadersThatStopAreCutOff(t *testing.T) {
	ended := make(chan error, 1)
	endless := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for {
			if _, err := w.Write(make([]byte, 1<<20)); err != nil {
				ended <- err
				return
			}
		}
	})
	_, url := serveNode(t, web.Options{Timeout: 200 * time.Millisecond, MCP: endless})
	dial(t, url, head("GET", "/mcp"))
	select {
	case <-ended:
	case <-time.After(30 * time.Second):
		t.Error("still writing to a reader who takes nothing")
	}
}

// Idle connections are closed for new ones, and requests are served meanwhile.
func TestIdleConnectionsStarveNobody(t *testing.T) {
	const idle, most = 1000, 64
	_, url := serveNode(t, web.Options{MaxConns: most})
	var closed atomic.Int64
	first := dial(t, url, head("GET", "/healthz"))
	watch := func(conn net.Conn) {
		_, _ = io.Copy(io.Discard, conn)
		closed.Add(1)
	}
	go watch(first)
	client := &http.Client{Transport: &http.Transport{}}
	for i := range idle {
		begin := ""
		if i%3 == 1 {
			begin = "GET / HTTP/1.1\r\nHost: loc" // a head that never ends
		} else if i%3 == 2 {
			begin = head("GET", "/healthz") // kept alive after its answer
		}
		go watch(dial(t, url, begin))
		if i%100 == 99 {
			res, err := client.Get(url + "/api/stats")
			if err != nil {
				t.Fatalf("after %d idle connections: %v", i+1, err)
			}
			res.Body.Close()
			if res.StatusCode != 200 {
				t.Errorf("after %d idle connections: %s", i+1, res.Status)
			}
		}
	}
	for deadline := time.Now().Add(30 * time.Second); closed.Load() < idle-most; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%d of %d connections were closed, want all but %d", closed.Load(), idle+1, most)
		}
	}
}

func TestHeadersHaveALimit(t *testing.T) {
	t.Parallel()
	_, url := serveNode(t, web.Options{})
	res, _ := askBody(t, "GET", url+"/healthz", "", "X-Long: "+strings.Repeat("x", 100<<10))
	if res.StatusCode != http.StatusRequestHeaderFieldsTooLarge {
		t.Errorf("got %s", res.Status)
	}
}
