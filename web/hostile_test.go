package web_test

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/local"
	"github.com/robotmem/robotmem-go/robotmem/mcp"
	"github.com/robotmem/robotmem-go/robotmem/robotmemtest/hostile"
	"github.com/robotmem/robotmem-go/robotmem/robotmemtest/rounds"
	"github.com/robotmem/robotmem-go/web"
)

// A hostile request allocates at most eight times its size, over REST, and as a
// message over HTTP and over stdio: at the largest size of most requests, and at a
// size that only requests with data or items may have.
func TestHostileRequestsCostLittle(t *testing.T) {
	if testing.Short() {
		t.Skip("the race detector allocates memory of its own")
	}
	const most, fixed = 8, 1 << 20 // of the size; bytes that an answer costs anyway
	e, err := local.Open(t.Context(), filepath.Join(t.TempDir(), "memory.db"), local.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	tools := mcp.NewServer(e, mcp.Options{})
	node := web.NewServer(e, web.Options{MCP: tools.Handler()}).Handler
	ask := func(path string, body []byte) string {
		r := httptest.NewRequest(http.MethodPost, "http://localhost"+path, bytes.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		w := httptest.NewRecorder()
		node.ServeHTTP(w, r)
		return w.Body.String()
	}
	ask("/mcp", []byte(`{"jsonrpc":"2.0","id":1,"method":"ping"}`)) // what the first one makes is kept
	for _, size := range []int{1 << 20, 8 << 20}[:rounds.Of(1, 2)] {
		for _, s := range hostile.Shapes() {
			message := text(s.Message(size))
			sends := map[string]func() string{
				"mcp": func() string { return ask("/mcp", message) },
				"stdio": func() string {
					var out strings.Builder
					if err := tools.ServeStdio(context.WithoutCancel(t.Context()), io.MultiReader(bytes.NewReader(message), strings.NewReader("\n")), &out); err != nil {
						t.Error(err)
					}
					return out.String()
				},
			}
			if s.Op != "" {
				body, path := text(s.Body(size)), robotmem.OpByName(s.Op).Path()
				sends["rest"] = func() string { return ask(path, body) }
			}
			for way, send := range sends {
				runtime.GC()
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				began := cpu()
				answer := send()
				took := cpu() - began
				runtime.ReadMemStats(&after)
				allowed := size
				if s.Op == "learn_batch" && way == "rest" {
					allowed = max(size, 16<<20) // its values are limited, not their share of the size
				}
				cost := after.TotalAlloc - before.TotalAlloc
				t.Logf("%-27s %-5s %3d MiB: %6.2f times its size, %5d ms CPU: %.180s", s.Name, way, size>>20, float64(cost)/float64(size), took.Milliseconds(), answer)
				if cost > uint64(most*allowed+fixed) {
					t.Errorf("%s, %s, %d MiB: allocates %.1f times its size", s.Name, way, size>>20, float64(cost)/float64(size))
				}
			}
		}
	}
}

func text(b hostile.Body) []byte {
	var all bytes.Buffer
	_, _ = b.WriteTo(&all)
	return all.Bytes()
}

// cpu is the processor time that this process has used.
func cpu() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
