package engine_test

import (
	"os"
	"testing"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/engine"
	"github.com/robotmem/robotmem-go/robotmem/local"
)

// openNode opens a memory in a new folder.
func openNode(t *testing.T, o local.Options) *local.Node {
	t.Helper()
	return openAt(t, engine.NewFile(t, engine.Options{}), o)
}

func openAt(t *testing.T, path string, o local.Options) *local.Node {
	t.Helper()
	if o.BusyTimeout == 0 {
		o.BusyTimeout = time.Minute
	}
	e, err := local.Open(t.Context(), path, o)
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

func learn(t *testing.T, s robotmem.Service, insight string, context robotmem.Object) *robotmem.LearnResponse {
	t.Helper()
	res, err := s.Learn(t.Context(), &robotmem.LearnRequest{Insight: insight, Context: context})
	if err != nil {
		t.Fatal(err)
	}
	return res
}

func recall(t *testing.T, s robotmem.Service, req *robotmem.RecallRequest) *robotmem.RecallResponse {
	t.Helper()
	res, err := s.Recall(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// skip skips a test that needs something from the machine; CI has it all.
func skip(t *testing.T, why string) {
	t.Helper()
	if os.Getenv("CI") != "" {
		t.Fatal("CI must not skip: " + why)
	}
	t.Skip(why)
}
