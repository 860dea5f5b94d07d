package web_test

import (
	"context"
	"crypto/sha256"
	"net/http"
	"strings"
	"testing"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/web"
)

// A token that is sent is checked on every face, whether or not one is required.
func TestAPresentedTokenIsChecked(t *testing.T) {
	faces := append(entryPoints[:len(entryPoints):len(entryPoints)], []struct {
		name, method, path, body string
		headers                  []string
		public                   bool
	}{
		{name: "fleet", method: "POST", path: "/api/fleet/hello", body: `{}`, headers: []string{"Content-Type: application/json"}},
		{name: "reading", method: "GET", path: "/api/stats"},
		{name: "events", method: "GET", path: "/api/events"},
		{name: "metrics", method: "GET", path: "/metrics"},
		{name: "a file of the dashboard", method: "GET", path: "/app.js", public: true},
	}...)
	revoked := &list{}
	ended := revoked.add("arm-7", false)
	revoked.clear()

	for node, options := range map[string]web.Options{
		"a file without tokens": {Tokens: revoked.tokens},
		"an open site": {
			Lookup: func(context.Context, [sha256.Size]byte) (robotmem.Caller, bool, error) {
				return robotmem.Caller{}, false, nil
			},
			Open: func() bool { return true }, OpenAs: robotmem.Caller{Role: robotmem.RoleAdmin},
		},
	} {
		options.Fleet = func(w http.ResponseWriter, _ *http.Request) error {
			_, err := w.Write([]byte("{}"))
			return err
		}
		e, url := serveNode(t, options)
		before := total(t, e)

		for _, f := range faces {
			for name, header := range map[string]string{
				"a revoked token":        bearer(ended),
				"an unknown token":       bearer(web.NewSecret()),
				"no secret":              "Authorization: Bearer",
				"a secret of spaces":     "Authorization: Bearer   ",
				"a tab":                  "Authorization: Bearer\t" + ended,
				"a secret alone":         "Authorization: " + ended,
				"another scheme":         "Authorization: Token " + ended,
				"Basic without a login":  "Authorization: Basic",
				"the scheme of a header": "Authorization: Bearer: " + ended,
			} {
				res, body := askBody(t, f.method, url+f.path, f.body, with(f.headers, header)...)
				// An address has few tries. What cannot be a token is none.
				if known := strings.HasSuffix(name, "token"); known && res.StatusCode == 429 {
					continue
				}
				if res.StatusCode != 401 || !strings.Contains(res.Header.Get("WWW-Authenticate"), `error="invalid_token"`) || !strings.Contains(body, "token create NAME") {
					t.Errorf("%s: %s with %s: %s %v %s", node, f.name, name, res.Status, res.Header, body)
				}
			}
		}
		if n := total(t, e); n != before {
			t.Errorf("%s: %d memories, want %d", node, n, before)
		}

		// What a person chose can be guessed, so an address has few tries. They are refused, too.
		for _, f := range faces {
			for _, secret := range []string{"garbage", "ey.a.b"} {
				if res, body := askBody(t, f.method, url+f.path, f.body, with(f.headers, bearer(secret))...); res.StatusCode != 401 && res.StatusCode != 429 {
					t.Errorf("%s: %s with %s: %s %s", node, f.name, secret, res.Status, body)
				}
			}
		}

		// A proxy passes the login of a person on, which is no token.
		for _, header := range []string{"X-None: x", "Authorization: ", "Authorization: Basic YWRhOnNlY3JldA=="} {
			if res, body := askBody(t, "GET", url+"/api/openapi.json", "", header); res.StatusCode != 200 {
				t.Errorf("%s with %s: %s %s", node, header, res.Status, body)
			}
		}
		if res, body := askBody(t, "POST", url+"/login", `{"token":"`+web.NewSecret()+`"}`, "Content-Type: application/json"); res.StatusCode == 200 || len(res.Cookies()) != 0 {
			t.Errorf("%s: login: %s %s", node, res.Status, body)
		}
	}
}

// Of two tokens none is taken: programs on the way may read the other one.
func TestTwoTokensAreNone(t *testing.T) {
	known := &list{}
	full := known.add("arm-7", false)
	_, url := serveNode(t, web.Options{Tokens: known.tokens})
	for _, second := range []string{full, "garbage"} {
		r, err := http.NewRequestWithContext(t.Context(), "GET", url+"/api/stats", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header["Authorization"] = []string{"Bearer " + full, "Bearer " + second}
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
		if res.StatusCode != 401 {
			t.Errorf("with %.10s: %s", second, res.Status)
		}
	}
}
