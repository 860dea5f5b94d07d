package bench

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/site"
)

// postgresFolders are where Linux distributions put the programs of each version.
var postgresFolders = []string{"/usr/lib/postgresql/*/bin", "/usr/pgsql-*/bin"}

// postgresPrograms returns the folder with the programs of the newest PostgreSQL.
func postgresPrograms() (string, error) {
	version := func(dir string) int {
		n, _ := strconv.Atoi(strings.TrimPrefix(filepath.Base(filepath.Dir(dir)), "pgsql-"))
		return n
	}

	var found []string

	for _, pattern := range postgresFolders {
		dirs, _ := filepath.Glob(pattern)
		found = append(found, dirs...)
	}

	slices.SortFunc(found, func(a, b string) int { return version(b) - version(a) })

	for _, dir := range found {
		if version(dir) >= site.LeastServer/10000 && isThere(filepath.Join(dir, "initdb")) {
			return dir, nil
		}
	}

	if program, err := exec.LookPath("initdb"); err == nil {
		return filepath.Dir(program), nil
	}

	return "", robotmem.Errorf(robotmem.Invalid, "db", "name a PostgreSQL server, such as --db postgres://robotmem@db1/robotmem, or install one, which is then started for the time of the bench; on Debian: apt-get install postgresql")
}

// withPostgres calls f with the URL of a new PostgreSQL server in a temporary folder, which only
// programs of this user reach.
func withPostgres(ctx context.Context, f func(url string, pid int) error) (err error) {
	bin, err := postgresPrograms()
	if err != nil {
		return err
	}

	dir, err := os.MkdirTemp("", "robotmem-")
	if err != nil {
		return &robotmem.Error{Kind: robotmem.Unavailable, Err: err}
	}

	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	as := func(*exec.Cmd) {}
	// PostgreSQL refuses to run as root.
	if os.Getuid() == 0 {
		if as, err = asOther(dir); err != nil {
			return err
		}
	}

	data, log := filepath.Join(dir, "data"), filepath.Join(dir, "log")
	run := func(name string, args ...string) error {
		// An interrupt must not kill pg_ctl: a server that is half started would stay behind.
		cmd := exec.CommandContext(context.WithoutCancel(ctx), filepath.Join(bin, name), args...)
		cmd.Dir = dir
		as(cmd)
		if out, err := cmd.CombinedOutput(); err != nil {
			text, _ := os.ReadFile(log)
			said := strings.Join(strings.Fields(string(append(out, text...))), " ")
			return robotmem.Errorf(robotmem.Unavailable, "db", "%s of PostgreSQL: %v: %s", name, err, robotmem.Clip(robotmem.Visible(said), 500))
		}

		return nil
	}
	if err := run("initdb", "-D", data, "-U", "robotmem", "-A", "trust", "-E", "UTF8", "--locale=C", "-N"); err != nil {
		return err
	}
	if err := run("pg_ctl", "start", "-w", "-s", "-D", data, "-l", log, "-o", "-c listen_addresses='' -k '"+strings.ReplaceAll(dir, "'", `'\''`)+"'"); err != nil {
		return err
	}

	defer func() { err = errors.Join(err, run("pg_ctl", "stop", "-w", "-s", "-m", "immediate", "-D", data)) }()

	// The first line of the file of the server is its process.
	running, err := os.ReadFile(filepath.Join(data, "postmaster.pid"))
	if err != nil {
		return &robotmem.Error{Kind: robotmem.Unavailable, Err: err}
	}
	first, _, _ := strings.Cut(string(running), "\n")
	pid, _ := strconv.Atoi(first)

	return f("postgres:///postgres?"+url.Values{"host": {dir}, "user": {"robotmem"}}.Encode(), pid)
}

// asOther gives a folder to a user without rights, and returns what lets a program run as that user.
func asOther(dir string) (func(*exec.Cmd), error) {
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, _ := strconv.ParseUint(u.Uid, 10, 32)
		gid, _ := strconv.ParseUint(u.Gid, 10, 32)

		return func(cmd *exec.Cmd) { runAs(cmd, uint32(uid), uint32(gid)) }, os.Chown(dir, int(uid), int(gid))
	}

	return nil, &robotmem.Error{Kind: robotmem.Unavailable, Err: fmt.Errorf("PostgreSQL refuses to run as root, and there is no user postgres or nobody; run this as another user")}
}

func isThere(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
