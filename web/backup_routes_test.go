package web_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/web"
)

// Backups are listed and made with a token that may write.
func TestBackupsAreMadeOverREST(t *testing.T) {
	known := &list{}
	writer, reader := known.add("writer", false), known.add("reader", true)
	var made []web.Backup
	var refused error
	backups := func(_ context.Context, make bool) (*web.Backups, error) {
		if make && refused == nil {
			made = append(made, web.Backup{Name: "memory-1", Bytes: 7, Restore: "robotmem backup restore"})
		}
		return &web.Backups{Dir: "/mnt/nas", Backups: append([]web.Backup{}, made...)}, refused
	}
	_, url := serveNode(t, web.Options{Tokens: known.tokens, ManageTokens: known, Backups: backups})
	send := func(method, secret string, want int, part string) {
		t.Helper()
		res, got := askBody(t, method, url+"/api/backups", "", "Content-Type: application/json", bearer(secret))
		if res.StatusCode != want || !strings.Contains(got, part) {
			t.Errorf("%s: %s %s, want %d and %s", method, res.Status, got, want, part)
		}
	}
	send("GET", writer, 200, `{"dir":"/mnt/nas","backups":[]}`)
	send("POST", reader, 403, "for reading only")
	send("GET", reader, 403, "for reading only")
	send("POST", web.NewSecret(), 401, "")
	if len(made) != 0 {
		t.Errorf("made %v without the right to", made)
	}
	send("POST", writer, 200, `"backups":[{"name":"memory-1","bytes":7,"restore":"robotmem backup restore"}]`)
	refused = robotmem.Errorf(robotmem.Unavailable, "dir", "the disk is full")
	send("POST", writer, 503, "the disk is full")

	_, url = serveNode(t, web.Options{Tokens: known.tokens})
	send("GET", writer, 404, "")
}

// The background work is paused and resumed with a token that may write.
func TestThePauseOverREST(t *testing.T) {
	known := &list{}
	writer, reader := known.add("writer", false), known.add("reader", true)
	var said []bool
	_, url := serveNode(t, web.Options{Tokens: known.tokens, Pause: func(on bool) { said = append(said, on) }})
	send := func(path, secret string, want int, part string) {
		t.Helper()
		res, got := askBody(t, "POST", url+path, "", "Content-Type: application/json", bearer(secret))
		if res.StatusCode != want || !strings.Contains(got, part) {
			t.Errorf("%s: %s %s, want %d and %s", path, res.Status, got, want, part)
		}
	}
	send("/api/workers/pause", reader, 403, "for reading only")
	send("/api/workers/resume", web.NewSecret(), 401, "")
	if len(said) != 0 {
		t.Errorf("changed to %v without the right to", said)
	}
	send("/api/workers/pause", writer, 200, `{"paused":true}`)
	send("/api/workers/resume", writer, 200, `{"paused":false}`)
	if !slices.Equal(said, []bool{true, false}) {
		t.Errorf("changed to %v", said)
	}

	_, url = serveNode(t, web.Options{Tokens: known.tokens})
	send("/api/workers/pause", writer, 404, "")
}
