package mcp

import (
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mark3labs/mcp-go/server"
	"github.com/robotmem/robotmem-go/robotmem/local"
	"github.com/robotmem/robotmem-go/web"
)

// The official suite, which .ci/conformance runs, tests the server in this test
// binary: its fixture is added to our tools, on our handler, behind the guards of the
// web server.
const conformanceSuite = "node_modules/@modelcontextprotocol/conformance/dist/index.js"

// asksTheModel is the only scenario with a feature that our server does not use: a
// request to the client's model. The library sends it only over the GET stream of a
// transport session, so the tool exists only on a server with both.
const asksTheModel = "tools-call-sampling"

func TestConformanceSuite(t *testing.T) {
	dir, node := suite(t)
	serve := func(more ...server.StreamableHTTPOption) string {
		svc, err := local.Open(t.Context(), filepath.Join(t.TempDir(), "memory.db"), local.Options{})
		if err != nil {
			t.Fatal(err)
		}
		s := newServer(svc, Options{}, fixtureOptions...)
		mountFixture(s)
		if len(more) > 0 {
			mountSampling(s)
		}
		ts := httptest.NewServer(web.NewServer(svc, web.Options{MCP: s.handler(more...)}).Handler)
		t.Cleanup(func() {
			ts.CloseClientConnections()
			ts.Close()
			if err := svc.Close(); err != nil {
				t.Error(err)
			}
		})
		return ts.URL + "/mcp"
	}
	results := t.TempDir() // the suite writes where it runs
	run := func(t *testing.T, args ...string) string {
		t.Helper()
		c := exec.CommandContext(t.Context(), node, append([]string{filepath.Join(dir, conformanceSuite), "server"}, args...)...)
		c.Dir = results
		out, err := c.CombinedOutput()
		if err != nil {
			t.Errorf("%v\n%s", err, out)
		}
		return string(out)
	}
	t.Run("all but one", func(t *testing.T) {
		// The suite also fails if an expected failure does not happen.
		baseline := filepath.Join(results, "expected.yml")
		if err := os.WriteFile(baseline, []byte("server:\n  - "+asksTheModel+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		out := run(t, "--url", serve(), "--suite", "all", "--expected-failures", baseline)
		if n := strings.Count(out, "=== Running scenario: "); n < 32 {
			t.Errorf("%d scenarios ran, want 32 or more:\n%s", n, out)
		}
	})
	t.Run(asksTheModel, func(t *testing.T) {
		run(t, "--url", serve(server.WithStateful(true), server.WithDisableStreaming(false)), "--scenario", asksTheModel)
	})
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
