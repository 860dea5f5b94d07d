package python_test

import (
	"net/http/httptest"
	"path/filepath"
	"testing"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/robotmemtest"
	"github.com/robotmem/robotmem-go/web"
)

// serve is a node on a file of its own.
func serve(t *testing.T) string {
	t.Helper()
	e, err := robotmem.Open(t.Context(), robotmem.Options{Path: filepath.Join(t.TempDir(), "memory.db")})
	if err != nil {
		t.Fatal(err)
	}
	ts := httptest.NewServer(web.New(e, web.Options{}))
	t.Cleanup(func() {
		ts.Close()
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return ts.URL
}

// The client passes the contract of a Service through its public methods.
func TestContract(t *testing.T) {
	c := startChild(t)
	robotmemtest.Run(t, func(t *testing.T) robotmem.Service { return service{c, serve(t)} })
}
