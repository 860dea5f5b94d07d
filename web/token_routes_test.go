package web_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/web"
)

func (l *list) List(context.Context) ([]web.Token, error) { return l.tokens(), nil }

func (l *list) Create(_ context.Context, t web.Token) (string, error) {
	if t.Name == "" {
		return "", robotmem.Errorf(robotmem.Invalid, "name", "is required")
	}
	return l.add(t.Name, t.ReadOnly), nil
}

func (l *list) Revoke(_ context.Context, name string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i, t := range l.all {
		if t.Name == name {
			l.all = append(l.all[:i:i], l.all[i+1:]...)
			return nil
		}
	}
	return robotmem.Errorf(robotmem.NotFound, "name", "there is no such token")
}

func (l *list) Used(t web.Token) {
	l.mu.Lock()
	defer l.mu.Unlock()
	all := append([]web.Token{}, l.all...)
	for i := range all {
		if all[i].SHA256 == t.SHA256 {
			all[i].LastUsed = time.Unix(1_700_000_000, 0).UTC()
		}
	}
	l.all = all
}

// Tokens are created and revoked over REST with a token that may write, or while there is
// none by the programs of the machine.
func TestTokensAreManagedOverREST(t *testing.T) {
	known := &list{}
	_, url := serveNode(t, web.Options{Tokens: known.tokens, ManageTokens: known})
	send := func(method, path, body, secret string, want int, part string) string {
		t.Helper()
		headers := []string{"Content-Type: application/json"}
		if secret != "" {
			headers = append(headers, bearer(secret))
		}
		res, got := askBody(t, method, url+path, body, headers...)
		if res.StatusCode != want || !strings.Contains(got, part) {
			t.Errorf("%s %s %s: %s %s, want %d and %s", method, path, body, res.Status, got, want, part)
		}
		return got
	}
	secretOf := func(answer string) string {
		_, secret, _ := strings.Cut(answer, `"secret":"`)
		return strings.TrimSuffix(secret, "\"}\n")
	}
	send("GET", "/api/tokens", "", "", 200, `{"tokens":[]}`)
	for body, want := range map[string]int{
		`{}`: 400, ``: 400, `7`: 400, `{"name":7}`: 400, `{"name":"x","readonly":true}`: 400, `{"name":"` + strings.Repeat("x", 5000) + `"}`: 413,
	} {
		send("POST", "/api/tokens", body, "", want, `"kind":"`)
	}
	full := secretOf(send("POST", "/api/tokens", `{"name":"arm-7"}`, "", 200, `"read_only":false,"secret":"rmt_`))
	for _, secret := range []string{"", web.NewSecret()} {
		send("GET", "/api/tokens", "", secret, 401, "")
		send("POST", "/api/tokens", `{"name":"mine"}`, secret, 401, "")
		send("DELETE", "/api/tokens/arm-7", "", secret, 401, "")
	}
	reader := secretOf(send("POST", "/api/tokens", `{"name":"viewer","read_only":true}`, full, 200, `"read_only":true`))
	send("GET", "/api/tokens", "", reader, 403, "for reading only")
	send("POST", "/api/tokens", `{"name":"mine"}`, reader, 403, "for reading only")
	send("DELETE", "/api/tokens/arm-7", "", reader, 403, "for reading only")
	got := send("GET", "/api/tokens", "", full, 200, `{"name":"arm-7","read_only":false,"last_used":"2023-11-14T22:13:20Z"}`)
	if strings.Contains(strings.ToLower(got), "sha") || strings.Contains(got, fmt.Sprint(known.all[0].SHA256[:3])) {
		t.Errorf("the list shows hashes: %s", got)
	}
	send("DELETE", "/api/tokens/nobody", "", full, 404, "no such token")
	send("DELETE", "/api/tokens/viewer", "", full, 200, `"arm-7"`)
	send("GET", "/api/stats", "", reader, 401, "revoked")
	send("DELETE", "/api/tokens/arm-7", "", full, 200, `{"tokens":[]}`)
	// Without the last one, the node is as before the first.
	send("POST", "/api/tokens", `{"name":"mine"}`, full, 401, "revoked")
	send("POST", "/api/tokens", `{"name":"mine"}`, "", 200, `"secret":"rmt_`)

	_, url = serveNode(t, web.Options{})
	send("GET", "/api/tokens", "", "", 404, "")
}
