package fleet

import (
	"context"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"testing"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/store"
	"github.com/robotmem/robotmem-go/robotmem/local"
)

// A refusal of one payload is noted, and one of all that the robot sends is an error.
func TestARefusedPayloadHoldsUpNoOther(t *testing.T) {
	t.Parallel()
	n, err := local.Open(t.Context(), filepath.Join(t.TempDir(), "arm.db"), local.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = n.Close() })
	saved, err := n.SavePerception(t.Context(), &robotmem.SavePerceptionRequest{Description: "a force at the gripper", Data: "t,f\n0,1\n"})
	if err != nil {
		t.Fatal(err)
	}

	for _, c := range []struct {
		name, answer string
		status       int
		noted        bool
	}{
		{"of a memory", `{"kind":"forbidden","field":"session_id","detail":"is not an episode of the robot arm-1"}`, http.StatusForbidden, true},
		{"of bytes", `{"kind":"invalid","field":"payload","detail":"has bytes of another SHA-256"}`, http.StatusBadRequest, true},
		{"of a token", `{"kind":"forbidden","detail":"the token is not known"}`, http.StatusUnauthorized, false},
		{"of a replica", `{"kind":"forbidden","field":"replica","detail":"is the memory of another robot"}`, http.StatusForbidden, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == payloadPath {
					w.WriteHeader(c.status)
					_, _ = w.Write([]byte(c.answer))
					return
				}
				_, _ = w.Write([]byte(`{"protocol":2,"upto":1,"memories":{},"wanted":["` + saved.SHA256 + `"]}`))
			}))
			t.Cleanup(srv.Close)

			r := NewReplicator(n, Peer{URL: srv.URL, Robot: "arm-1", Replica: "r", Payloads: PayloadsAll, Metered: MeteredSend}, nil, nil)
			if err := resend(t.Context(), r); (err == nil) != c.noted {
				t.Errorf("got %v", err)
			}
			s, err := r.Status(t.Context())
			if err != nil || (len(s.Refused) == 1) != c.noted {
				t.Errorf("%+v, %v", s.Refused, err)
			}
		})
	}
}

// resend sends all payloads again, as if the site had all memories.
func resend(ctx context.Context, r *Replicator) error {
	if err := r.ResendPayloads(ctx); err != nil {
		return err
	}
	if err := r.node.Store.Write(ctx, func(tx *store.Tx) error { return tx.SetCounter(sentCounter, 1000) }); err != nil {
		return err
	}
	return r.Payloads(ctx)
}
