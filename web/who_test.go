package web_test

import (
	"context"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/web"
)

// listener is a memory that records the caller of learn.
type listener struct {
	*stub
	caller robotmem.Caller
}

func (l *listener) Learn(ctx context.Context, r *robotmem.LearnRequest) (*robotmem.LearnResponse, error) {
	l.caller = robotmem.CallerOf(ctx)
	return l.stub.Learn(ctx, r)
}

// The caller is the name of the verified token, whatever the request contains. The
// program is the one in the User-Agent header.
func TestWhoIsTheTokenAndCannotBeForged(t *testing.T) {
	secret := web.NewSecret()
	for name, c := range map[string]struct {
		tokens  []web.Token
		headers []string
		want    robotmem.Caller
	}{
		"a token": {
			[]web.Token{web.NewToken("arm-7", secret, false)}, []string{"Authorization: Bearer " + secret, "User-Agent: nav2/1.4 (robot)"},
			robotmem.Caller{Who: "arm-7", Tool: "rest", Client: "nav2/1.4"},
		},
		"no token asked for": {
			nil, []string{"Authorization: Basic admin", "X-Forwarded-User: admin", "X-Who: admin"},
			robotmem.Caller{Tool: "rest"},
		},
		"a claim beside the token": {
			[]web.Token{web.NewToken("arm-7", secret, false)}, []string{"Authorization: Bearer " + secret, "X-Forwarded-User: admin", "X-Who: admin", "From: admin"},
			robotmem.Caller{Who: "arm-7", Tool: "rest"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			l := &listener{stub: &stub{}}
			h := web.NewServer(l, web.Options{Tokens: func() []web.Token { return c.tokens }}).Handler
			res := do(h, "POST", "/api/learn", `{"insight":"a fact"}`, c.headers...)
			if res.StatusCode != http.StatusOK {
				t.Fatalf("status %d", res.StatusCode)
			}
			if diff := cmp.Diff(c.want, l.caller); diff != "" {
				t.Errorf("caller (-want +got):\n%s", diff)
			}
			// A field of the request does not name the caller either.
			res = do(h, "POST", "/api/learn", `{"insight":"a fact","who":"admin"}`, c.headers...)
			if res.StatusCode != http.StatusBadRequest {
				t.Errorf("a request that names its caller has status %d, want 400", res.StatusCode)
			}
		})
	}
}
