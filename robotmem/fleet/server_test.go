package fleet

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

// The tests run on a real PostgreSQL in a temporary folder, on a loopback port.

// serverURL is the URL of the server of all tests, "" without one.
var serverURL string

func TestMain(m *testing.M) {
	if path := os.Getenv(killedVariable); path != "" {
		if err := replicateUntilKilled(path); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(func() int {
		dir, err := os.MkdirTemp("", "robotmem-postgres")
		if err != nil {
			panic(err)
		}
		defer os.RemoveAll(dir)
		if bin := postgresPrograms(); bin != "" {
			p, err := startPostgres(dir, bin)
			if err != nil {
				fmt.Fprintln(os.Stderr, "PostgreSQL does not start:", err)
				return 1
			}
			defer p.kill(syscall.SIGQUIT)
			serverURL = p.url("postgres")
		}
		return m.Run()
	}())
}

// postgresPrograms returns the folder of the newest PostgreSQL from 15 on, "" without one.
func postgresPrograms() string {
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

// skipShort leaves a test out of short runs, such as those with -race: it mostly waits for servers and
// processes, or runs the node of a file, which has tests of its own.
func skipShort(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("takes long and shares little between goroutines: nothing for -race")
	}
}

// needServer skips a test without a server; in CI it fails.
func needServer(t testing.TB) {
	t.Helper()
	if serverURL != "" {
		return
	}
	const text = "no PostgreSQL on this machine; on Debian: apt-get install postgresql"
	if os.Getenv("CI") != "" {
		t.Fatal(text)
	}
	t.Skip(text)
}

var databases atomic.Int64

// newURL makes a database and returns its URL.
func newURL(t testing.TB) string {
	t.Helper()
	needServer(t)
	c, err := pgx.Connect(context.Background(), serverURL)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close(context.Background())
	name := fmt.Sprint("test", databases.Add(1))
	if _, err := c.Exec(context.Background(), "CREATE DATABASE "+name); err != nil {
		t.Fatal(err)
	}
	config := c.Config()
	return fmt.Sprintf("postgres://%s@127.0.0.1:%d/%s?pool_max_conns=4", config.User, config.Port, name)
}

// postgres is a server of one test program.
type postgres struct {
	bin, dir, data string
	port           int
	cmd            *exec.Cmd
	own            *syscall.Credential // PostgreSQL refuses to run as root
}

func (p *postgres) url(database string) string {
	return fmt.Sprintf("postgres://postgres@127.0.0.1:%d/%s", p.port, database)
}

func (p *postgres) command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(filepath.Join(p.bin, name), args...)
	cmd.Dir, cmd.SysProcAttr = p.dir, &syscall.SysProcAttr{Credential: p.own, Pdeathsig: syscall.SIGKILL}
	return cmd
}

// newPostgres makes a folder for a server.
func newPostgres(dir, bin string) (*postgres, error) {
	p := &postgres{bin: bin, dir: dir, data: filepath.Join(dir, "data")}
	if os.Getuid() == 0 {
		u, err := user.Lookup("nobody")
		if err != nil {
			return nil, err
		}
		uid, _ := strconv.Atoi(u.Uid)
		gid, _ := strconv.Atoi(u.Gid)
		p.own = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
		if err := os.Chown(dir, uid, gid); err != nil {
			return nil, err
		}
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p.port = l.Addr().(*net.TCPAddr).Port
	return p, l.Close()
}

// startPostgres makes a cluster and starts it.
func startPostgres(dir, bin string, settings ...string) (*postgres, error) {
	p, err := newPostgres(dir, bin)
	if err != nil {
		return nil, err
	}
	if out, err := p.command("initdb", "-D", p.data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "-N").CombinedOutput(); err != nil {
		return nil, fmt.Errorf("initdb: %w: %s", err, out)
	}
	return p, p.start(settings...)
}

// start starts the server and waits until it answers.
func (p *postgres) start(settings ...string) error {
	args := []string{"-D", p.data, "-p", strconv.Itoa(p.port), "-k", p.dir, "-c", "listen_addresses=127.0.0.1", "-c", "max_connections=200"}
	for _, s := range settings {
		args = append(args, "-c", s)
	}
	p.cmd = p.command("postgres", args...)
	log, err := os.OpenFile(filepath.Join(p.dir, "log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	p.cmd.Stdout, p.cmd.Stderr = log, log
	if err := p.cmd.Start(); err != nil {
		return err
	}
	_ = log.Close()
	for until := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		c, err := pgx.Connect(ctx, p.url("postgres"))
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

// kill sends a signal and waits for the end.
func (p *postgres) kill(s syscall.Signal) {
	_ = p.cmd.Process.Signal(s)
	_ = p.cmd.Wait()
}
