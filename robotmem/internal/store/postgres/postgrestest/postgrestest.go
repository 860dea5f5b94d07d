// Package postgrestest starts PostgreSQL servers for tests, each in a temporary folder, on a loopback port.
package postgrestest

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// ServerURL is the URL of the server of all tests of a program, "" without one.
var ServerURL string

// Run starts the server of a test program, unless PostgreSQL is not installed, and runs the tests.
func Run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "robotmem-postgres")
	if err != nil {
		panic(err)
	}
	defer func() { _ = os.RemoveAll(dir) }()

	if bin := Programs(); bin != "" {
		p, err := Start(dir, bin)
		if err != nil {
			fmt.Fprintln(os.Stderr, "PostgreSQL does not start:", err)
			return 1
		}
		defer p.Kill(syscall.SIGQUIT)
		ServerURL = p.URL("postgres")
	}

	return m.Run()
}

// Programs returns the folder of the newest PostgreSQL from 15 on, "" without one.
func Programs() string {
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")

	best, at := 14, ""
	for _, f := range found {
		if v, err := strconv.Atoi(filepath.Base(filepath.Dir(filepath.Dir(f)))); err == nil && v > best {
			best, at = v, filepath.Dir(f)
		}
	}
	if at == "" {
		if f, err := exec.LookPath("initdb"); err == nil {
			return filepath.Dir(f)
		}
	}

	return at
}

// Need skips a test without a server; in CI it fails.
func Need(t testing.TB) {
	t.Helper()
	if ServerURL != "" {
		return
	}

	const text = "no PostgreSQL on this machine; on Debian: apt-get install postgresql"
	if os.Getenv("CI") != "" {
		t.Fatal(text)
	}
	t.Skip(text)
}

var databases atomic.Int64

// NewURL makes a database and returns its URL.
func NewURL(t testing.TB) string {
	t.Helper()
	Need(t)
	c, err := pgx.Connect(context.Background(), ServerURL)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close(context.Background()) }()
	name := fmt.Sprint("test", databases.Add(1))
	if _, err := c.Exec(context.Background(), "CREATE DATABASE "+name); err != nil {
		t.Fatal(err)
	}
	config := c.Config()

	return fmt.Sprintf("postgres://%s@127.0.0.1:%d/%s?pool_max_conns=4", config.User, config.Port, name)
}

// Server is a server of one test program.
type Server struct {
	bin, Dir, Data string
	Port           int
	Cmd            *exec.Cmd

	asUser, asGroup uint32 // PostgreSQL refuses to run as root; 0 for the user of the test
}

// URL returns the URL of a database.
func (p *Server) URL(database string) string {
	return fmt.Sprintf("postgres://postgres@127.0.0.1:%d/%s", p.Port, database)
}

// Command returns a program of PostgreSQL, run as the user of the server.
func (p *Server) Command(name string, args ...string) *exec.Cmd {
	// It outlives the test that starts it.
	cmd := exec.CommandContext(context.Background(), filepath.Join(p.bin, name), args...)
	cmd.Dir = p.Dir
	runAs(cmd, p.asUser, p.asGroup)

	return cmd
}

// New makes a folder for a server.
func New(dir, bin string) (*Server, error) {
	p := &Server{bin: bin, Dir: dir, Data: filepath.Join(dir, "data")}
	if os.Getuid() == 0 {
		u, err := user.Lookup("nobody")
		if err != nil {
			return nil, err
		}
		uid, _ := strconv.Atoi(u.Uid)
		gid, _ := strconv.Atoi(u.Gid)
		p.asUser, p.asGroup = uint32(uid), uint32(gid)
		if err := os.Chown(dir, uid, gid); err != nil {
			return nil, err
		}
	}
	l, err := new(net.ListenConfig).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p.Port = l.Addr().(*net.TCPAddr).Port

	return p, l.Close()
}

// Start makes a cluster and starts it.
func Start(dir, bin string, settings ...string) (*Server, error) {
	p, err := New(dir, bin)
	if err != nil {
		return nil, err
	}
	if out, err := p.Command("initdb", "-D", p.Data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C",
		"-N").CombinedOutput(); err != nil {
		return nil, fmt.Errorf("initdb: %w: %s", err, out)
	}

	return p, p.Start(settings...)
}

// Start starts the server and waits until it answers.
func (p *Server) Start(settings ...string) error {
	args := []string{
		"-D", p.Data, "-p", strconv.Itoa(p.Port), "-k", p.Dir, "-c", "listen_addresses=127.0.0.1", "-c",
		"max_connections=200",
	}
	for _, s := range settings {
		args = append(args, "-c", s)
	}
	p.Cmd = p.Command("postgres", args...)
	log, err := os.OpenFile(filepath.Join(p.Dir, "log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	p.Cmd.Stdout, p.Cmd.Stderr = log, log
	if err := p.Cmd.Start(); err != nil {
		return err
	}
	_ = log.Close()

	for until := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		c, err := pgx.Connect(ctx, p.URL("postgres"))
		cancel()
		if err == nil {
			return c.Close(context.Background())
		}
		if time.Now().After(until) {
			text, _ := os.ReadFile(log.Name())
			return fmt.Errorf("%w: %s", err, text)
		}
	}
}

// Kill sends a signal and waits for the end.
func (p *Server) Kill(s syscall.Signal) {
	_ = p.Cmd.Process.Signal(s)
	_ = p.Cmd.Wait()
}
