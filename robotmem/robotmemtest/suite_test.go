package robotmemtest_test

import (
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/client"
	"github.com/robotmem/robotmem-go/robotmem/robotmemtest"
	"github.com/robotmem/robotmem-go/web"
)

func openEngine(t *testing.T) *robotmem.Engine {
	t.Helper()
	e, err := robotmem.Open(t.Context(), robotmem.Options{Path: filepath.Join(t.TempDir(), "memory.db")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return e
}

func TestEngine(t *testing.T) {
	robotmemtest.Run(t, func(t *testing.T) robotmem.Service { return openEngine(t) })
}

func TestClientOverHTTP(t *testing.T) {
	robotmemtest.Run(t, func(t *testing.T) robotmem.Service {
		ts := httptest.NewServer(web.New(openEngine(t), web.Options{}))
		t.Cleanup(ts.Close)
		return client.New(ts.URL, client.Options{HTTP: ts.Client()})
	})
}

// TestMCPChild runs the contract against the program itself: a child process
// that speaks MCP over its stdin and stdout.
func TestMCPChild(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the program")
	}
	program := filepath.Join(t.TempDir(), "robotmem")
	if runtime.GOOS == "windows" {
		program += ".exe"
	}
	out, err := exec.CommandContext(t.Context(), "go", "build", "-o", program, "github.com/robotmem/robotmem-go/cmd/robotmem").CombinedOutput()
	if err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	robotmemtest.Run(t, func(t *testing.T) robotmem.Service { return startChild(t, program) })
}
