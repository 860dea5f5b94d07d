package robotmemtest_test

import (
	"errors"
	"io"
	"math/rand/v2"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/admin"
	"github.com/robotmem/robotmem-go/robotmem/client"
	"github.com/robotmem/robotmem-go/robotmem/local"
	"github.com/robotmem/robotmem-go/robotmem/robotmemtest"
	"github.com/robotmem/robotmem-go/robotmem/robotmemtest/rounds"
	"github.com/robotmem/robotmem-go/web"
)

func openEngine(t *testing.T) *local.Node { return openWith(t, local.Options{}) }

func openWith(t *testing.T, o local.Options) *local.Node {
	t.Helper()
	e, err := local.Open(t.Context(), filepath.Join(t.TempDir(), "memory.db"), o)
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
	t.Parallel()
	robotmemtest.Run(t, func(t *testing.T) robotmem.Service { return openEngine(t) })
}

func TestClientOverHTTP(t *testing.T) {
	t.Parallel()
	robotmemtest.Run(t, func(t *testing.T) robotmem.Service {
		rounds.OneIn(t, 4)
		return overHTTP(t, openEngine(t))
	})
}

func overHTTP(t *testing.T, e *local.Node) *client.Client {
	t.Helper()
	ts := httptest.NewServer(web.NewServer(e, web.Options{}).Handler)
	t.Cleanup(ts.Close)
	return client.New(ts.URL, client.Options{HTTP: ts.Client()})
}

// TestStreamLimit is not part of the suite, because it needs services with a
// different limit.
func TestStreamLimit(t *testing.T) {
	const limit = 1 << 20
	e := openWith(t, local.Options{MaxStream: limit})
	for name, s := range map[string]robotmem.Streams{"engine": e, "client over HTTP": overHTTP(t, e)} {
		for _, size := range []int64{limit, limit + 1, 20 * limit} {
			random := io.LimitReader(rand.NewChaCha8([32]byte{1}), size)
			res, err := s.SavePerceptionFrom(t.Context(), &robotmem.SavePerceptionRequest{Description: "as much as it takes"}, random)
			if size == limit {
				if err != nil || res.Bytes != limit {
					t.Errorf("%s, %d bytes: %+v, %v", name, size, res, err)
				}
				continue
			}
			var why *robotmem.Error
			if !errors.As(err, &why) || why.Kind != robotmem.TooLarge || why.Field != "data" || !strings.Contains(why.Detail(), "1048576") {
				t.Errorf("%s, %d bytes: %v, want it too large", name, size, err)
			}
		}
	}
	st, err := e.Stats(t.Context(), &admin.StatsRequest{})
	if err != nil || st.Total != 2 || st.PayloadBytes != limit {
		t.Errorf("%+v, %v; want two perceptions of one payload", st, err)
	}
}
