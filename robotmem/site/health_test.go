package site

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/store/postgres/postgrestest"
	"github.com/robotmem/robotmem-go/robotmem/local"
)

// nodeLog is the log of a node, which several goroutines write.
type nodeLog struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *nodeLog) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

// messages returns the lines so far.
func (l *nodeLog) messages() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Split(strings.TrimSuffix(l.text.String(), "\n"), "\n")
}

// await asks until the log has a line with a text, and returns what it has.
func (l *nodeLog) await(t *testing.T, text string, ask func()) []string {
	t.Helper()
	for until := time.Now().Add(time.Minute); time.Now().Before(until); {
		ask()
		if got := l.messages(); strings.Contains(got[len(got)-1], text) {
			return got
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("there is no line %q: %q", text, l.messages())
	return nil
}

// The log of a node has one line for each change of its server, however many requests fail meanwhile.
func TestANodeLogsTheChangesOfItsServer(t *testing.T) {
	skipShort(t)
	postgrestest.Need(t)
	dir := readable(t)
	p, err := postgrestest.Start(dir, postgrestest.Programs())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { p.Kill(syscall.SIGQUIT) }()

	log := &nodeLog{}
	s, err := Connect(t.Context(), p.URL("postgres"), Options{
		Payloads: t.TempDir(), Patience: 200 * time.Millisecond,
		Options: local.Options{Logger: slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelWarn}))},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	n, err := s.Node(t.Context(), DefaultTenant)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = n.Close() }()

	// Requests of every kind: those of the site too, and a recall begins the work in the background.
	refused := 0
	ask := func() {
		_, err := n.Learn(t.Context(), &robotmem.LearnRequest{Insight: note()})
		if errors.Is(err, robotmem.Unavailable) {
			refused++
		}
		_, _ = n.Recall(t.Context(), &robotmem.RecallRequest{Query: "lies"})
		_, _ = s.Tenants(t.Context())
	}
	for range 5 {
		ask()
	}
	if got := log.messages(); got[0] != "" || refused > 0 {
		t.Fatalf("%q, %d refused, before anything has happened", got, refused)
	}

	p.Kill(syscall.SIGINT)
	log.await(t, "database is not reached", ask)
	for refused = 0; refused < 10; {
		ask()
	}
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	log.await(t, "answers again", ask)

	// What a standby does that takes the place of a primary.
	query(t, p.URL("postgres"), "ALTER SYSTEM SET default_transaction_read_only = on")
	query(t, p.URL("postgres"), "SELECT pg_reload_conf()")
	log.await(t, "database is read-only", ask)
	for refused = 0; refused < 10; {
		ask()
	}
	query(t, p.URL("postgres"), "ALTER SYSTEM RESET default_transaction_read_only")
	query(t, p.URL("postgres"), "SELECT pg_reload_conf()")
	got := log.await(t, "answers again", ask)

	want := []string{"database is not reached", "answers again", "database is read-only", "answers again"}
	if len(got) != len(want) {
		t.Fatalf("got %q, want %q", got, want)
	}
	for i, line := range got {
		if !strings.Contains(line, want[i]) {
			t.Errorf("got %q, want %q", line, want[i])
		}
	}
}
