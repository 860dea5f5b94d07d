package python_test

import (
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/local"
	"github.com/robotmem/robotmem-go/robotmem/robotmemtest"
	"github.com/robotmem/robotmem-go/robotmem/robotmemtest/rounds"
	"github.com/robotmem/robotmem-go/web"
)

// serve starts a node on a new file.
func serve(t testing.TB) string {
	t.Helper()
	e, err := local.Open(t.Context(), filepath.Join(t.TempDir(), "memory.db"), local.Options{})
	if err != nil {
		t.Fatal(err)
	}
	ts := httptest.NewServer(web.NewServer(e, web.Options{}).Handler)
	t.Cleanup(func() {
		ts.Close()
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return ts.URL
}

// The Python client passes the tests of a Service with its public methods.
func TestContract(t *testing.T) {
	c := &children{t: t}
	robotmemtest.Run(t, func(t *testing.T) robotmem.Service {
		rounds.OneIn(t, 4)
		if strings.HasSuffix(t.Name(), "/InlineLimit") {
			rounds.OnlyInCI(t, "44 MB of JSON take seconds")
		}
		return newService(c, serve(t))
	})
}
