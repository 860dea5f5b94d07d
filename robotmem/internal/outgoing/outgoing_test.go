package outgoing

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
)

func TestNothingIsSentToAnotherOrigin(t *testing.T) {
	var stolen atomic.Int64
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { stolen.Add(1) }))
	defer other.Close()
	home := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/away":
			http.Redirect(w, r, other.URL+"/secret?key=1", http.StatusTemporaryRedirect)
		case "/moved":
			http.Redirect(w, r, "/home", http.StatusTemporaryRedirect)
		case "/becomes-get":
			http.Redirect(w, r, "/home", http.StatusFound)
		case "/round":
			http.Redirect(w, r, "/round", http.StatusTemporaryRedirect)
		default:
			_, _ = io.Copy(w, r.Body)
		}
	}))
	defer home.Close()
	for path, want := range map[string]string{
		"/away": "redirects to " + other.URL + ",", "/becomes-get": "redirects to " + home.URL, "/round": "redirects to " + home.URL, "/moved": "", "/home": "",
	} {
		for name, c := range map[string]*http.Client{"a new client": Client(nil), "a given client": Client(home.Client())} {
			res, err := c.Post(home.URL+path, "text/plain", strings.NewReader("a fact"))
			var refused *RedirectError
			if want != "" {
				if !errors.As(err, &refused) || !strings.HasPrefix(refused.Error(), want) || strings.Contains(refused.Error(), "key") {
					t.Errorf("%s, %s: %v, want %q", path, name, err, want)
				}
				continue
			}
			if err != nil {
				t.Errorf("%s, %s: %v", path, name, err)
				continue
			}
			if body, _ := io.ReadAll(res.Body); string(body) != "a fact" {
				t.Errorf("%s, %s: %q", path, name, body)
			}
			_ = res.Body.Close()
		}
	}
	if n := stolen.Load(); n != 0 {
		t.Errorf("the other origin was asked %d times", n)
	}
}
