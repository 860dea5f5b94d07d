package mcp

import (
	"context"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/mark3labs/mcp-go/server"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/web"
)

// The official suite, run by .ci/conformance, speaks to this test binary: its
// fixture is mounted beside our tools, on our handler, behind the guards of the
// web server.
const conformanceSuite = "node_modules/@modelcontextprotocol/conformance/dist/index.js"

// streamed are the scenarios in which the server asks the client's model. The
// library sends such a question over the GET stream alone, which the handler
// does not offer, having nothing to ask; the fixture opens it for them.
var streamed = map[string]bool{"tools-call-sampling": true}

func TestConformanceSuite(t *testing.T) {
	dir, node := suite(t)
	serve := func(more ...server.StreamableHTTPOption) string {
		svc, err := robotmem.Open(t.Context(), robotmem.Options{Path: filepath.Join(t.TempDir(), "memory.db")})
		if err != nil {
			t.Fatal(err)
		}
		s := newServer(svc, Options{}, fixtureOptions...)
		mountFixture(s)
		ts := httptest.NewServer(web.New(svc, web.Options{MCP: s.handler(more...)}))
		t.Cleanup(func() {
			ts.CloseClientConnections()
			ts.Close()
			if err := svc.Close(); err != nil {
				t.Error(err)
			}
		})
		return ts.URL + "/mcp"
	}
	run := func(ctx context.Context, args ...string) ([]byte, error) {
		c := exec.CommandContext(ctx, node, append([]string{filepath.Join(dir, conformanceSuite)}, args...)...)
		c.Dir = t.TempDir() // it writes its results where it runs
		return c.CombinedOutput()
	}
	listed, err := run(t.Context(), "list", "--server")
	if err != nil {
		t.Fatalf("%v\n%s", err, listed)
	}
	scenarios := regexp.MustCompile(`(?m)^\s+- (\S+) \[`).FindAllSubmatch(listed, -1)
	if len(scenarios) < 30 {
		t.Fatalf("only %d scenarios listed:\n%s", len(scenarios), listed)
	}
	plain, streaming := serve(), serve(server.WithDisableStreaming(false))
	for _, m := range scenarios {
		name := string(m[1])
		t.Run(name, func(t *testing.T) {
			url := plain
			if streamed[name] {
				url = streaming
			}
			if out, err := run(t.Context(), "server", "--url", url, "--scenario", name); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

// suite finds what .ci/conformance installs: the suite and the Node it needs.
func suite(t *testing.T) (dir, node string) {
	t.Helper()
	dir, err := filepath.Abs(filepath.Join("..", "..", "bin", "conformance"))
	if err != nil {
		t.Fatal(err)
	}
	nodes, err := filepath.Glob(filepath.Join(dir, "node_modules", "node-*", "bin", "node"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, conformanceSuite)); err != nil || len(nodes) == 0 {
		if os.Getenv("CI") != "" {
			t.Fatal("the conformance suite is not installed: run .ci/conformance")
		}
		t.Skip("the conformance suite is not installed; install and run it with .ci/conformance")
	}
	return dir, nodes[0]
}
