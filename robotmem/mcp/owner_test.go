package mcp

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/mark3labs/mcp-go/server"

	"github.com/robotmem/robotmem-go/robotmem"
)

// A session belongs to the token that has opened it: another token that knows its id cancels nothing in it
// and is told that there is no such session.
func TestASessionBelongsToItsToken(t *testing.T) {
	p := newPatient()
	handler := NewServer(p, Options{}).Handler()
	ts := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { // as package web does
		who := r.Header.Get("X-Test-Token")
		handler.ServeHTTP(w, r.WithContext(robotmem.WithCaller(r.Context(), robotmem.Caller{Who: who, ReadOnly: who == "viewer"})))
	}))
	defer ts.Close()
	as := func(who, session string) map[string]string {
		return map[string]string{"X-Test-Token": who, server.HeaderKeySessionID: session}
	}
	res, _ := post(t, ts.URL, map[string]string{"X-Test-Token": "arm-7"}, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`)
	opened := res.Header.Get(server.HeaderKeySessionID)
	if opened == "" {
		t.Fatal("no session")
	}
	for _, session := range []string{opened, "opened-in-another-process"} {
		answered := make(chan string, 1)
		go func() {
			_, body := post(t, ts.URL, as("arm-7", session), call(1, "recall", `{"query":"x"}`))
			answered <- body
		}()
		<-p.begun
		res, _ := post(t, ts.URL, as("viewer", session), cancelled("1"))
		if session == opened && res.StatusCode != http.StatusNotFound {
			t.Errorf("another token's notification: %s, want 404", res.Status)
		}
		select {
		case p.let <- struct{}{}:
		case body := <-answered:
			t.Fatalf("session %q: another token ended the call: %s", session, body)
		}
		if err := <-p.ended; err != nil {
			t.Errorf("session %q: another token cancelled the call: %v", session, err)
		}
		<-answered
	}
	if res, body := post(t, ts.URL, as("viewer", opened), call(2, "get", `{"memory_id":7}`)); res.StatusCode != http.StatusNotFound {
		t.Errorf("another token's call: %s %s", res.Status, body)
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodDelete, ts.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range as("viewer", opened) {
		req.Header.Set(name, value)
	}
	if res, err := http.DefaultClient.Do(req); err != nil || res.StatusCode != http.StatusNotFound {
		t.Errorf("another token's end of the session: %v %v", res, err)
	}
	// Its own token cancels.
	go func() {
		// The answer may come when the test has ended, and is not looked at.
		if res, err := request(t.Context(), ts.URL, as("arm-7", opened), call(3, "recall", `{"query":"x"}`)); err == nil {
			_ = res.Body.Close()
		}
	}()
	<-p.begun
	post(t, ts.URL, as("arm-7", opened), cancelled("3"))
	if err := <-p.ended; err == nil {
		t.Error("the token that opened the session does not cancel its call")
	}
}
