package main

import (
	"encoding/json"
	"errors"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/ncruces/go-sqlite3"
)

// placed is a memory of two facts, one with a payload in the folder, under the name that its user gives.
type placed struct {
	t    *testing.T
	name string // for --db
	real string // the database, without links

	original string // the folder with the memory that this is a copy of
}

// shapes are the ways in which a user names a memory. Each prepares the memory at real and returns its name.
var shapes = map[string]func(t *testing.T, dir, real string) (name string){
	"plain file": func(_ *testing.T, _, real string) string { return real },
	"link":       link,
	"link of a link": func(t *testing.T, dir, real string) string {
		return link(t, t.TempDir(), link(t, dir, real))
	},
	"link with payloads beside it": func(t *testing.T, dir, real string) string {
		name := link(t, dir, real)
		if err := os.Rename(real+".payloads", name+".payloads"); err != nil {
			t.Fatal(err)
		}
		return name
	},
	"file in a linked folder": func(t *testing.T, dir, real string) string {
		folder := filepath.Join(dir, "folder")
		if err := os.Symlink(filepath.Dir(real), folder); err != nil {
			t.Fatal(err)
		}
		return filepath.Join(folder, filepath.Base(real))
	},
	"relative path": func(t *testing.T, _, real string) string {
		t.Chdir(filepath.Dir(real))
		return filepath.Base(real)
	},
	"unicode name": func(t *testing.T, _, real string) string {
		name := filepath.Join(filepath.Dir(real), "Gedächtnis 記憶 🤖's $HOME.db")
		for _, suffix := range []string{"", ".payloads"} {
			if err := os.Rename(real+suffix, name+suffix); err != nil {
				t.Fatal(err)
			}
		}
		return name
	},
}

func link(t *testing.T, dir, real string) string {
	t.Helper()
	name := filepath.Join(dir, "link.db")
	if err := os.Symlink(real, name); err != nil {
		t.Fatal(err)
	}
	return name
}

// inPlace runs every command on every shape, each on a memory of its own.
var inPlace = map[string]func(m placed){
	"stats": func(m placed) {
		var stats struct {
			Total        int64 `json:"total"`
			PayloadBytes int64 `json:"payload_bytes"`
		}
		m.json(&stats, "stats")
		if stats.Total != 2 || stats.PayloadBytes < payloadSize {
			m.t.Errorf("stats: %+v", stats)
		}
	},
	"doctor":        func(m placed) { m.run("doctor", "--deep") },
	"doctor repair": func(m placed) { m.run("doctor", "--repair") },
	"doctor repair of a damaged file": func(m placed) {
		damageAt(m.t, m.real)
		var report struct {
			Damaged string `json:"damaged"`
			Whole   bool   `json:"whole"`
		}
		if m.json(&report, "doctor", "--repair"); !report.Whole {
			m.t.Error("more than an index was damaged")
		}
		if _, err := os.Stat(report.Damaged); err != nil {
			m.t.Errorf("the damaged file is not kept: %v", err)
		}
	},
	"export and import": func(m placed) {
		file := filepath.Join(m.t.TempDir(), "m.tar")
		m.run("export", "--archive", file)
		other := filepath.Join(m.t.TempDir(), "other.db")
		m.command("import", file, "--db", other)
		placed{t: m.t, name: other}.whole()
		m.run("import", file)
	},
	"export and import of lines": func(m placed) {
		lines := m.run("export")
		file := filepath.Join(m.t.TempDir(), "facts.jsonl")
		if err := os.WriteFile(file, []byte(lines), 0o600); err != nil {
			m.t.Fatal(err)
		}
		m.run("import", file)
	},
	"backup": func(m placed) {
		var made struct{ Path string }
		m.json(&made, "backup")
		var list struct {
			Backups []struct{ Path, Problem string }
		}
		m.json(&list, "backup", "list")
		if len(list.Backups) != 1 || !sameAs(list.Backups[0].Path, made.Path) || list.Backups[0].Problem != "" {
			m.t.Errorf("made %s, and the list is %+v", made.Path, list.Backups)
		}
		m.run("backup", "verify")
	},
	"backup restore and its undo": func(m placed) {
		var made struct{ Name string }
		m.json(&made, "backup")
		m.run("learn", "the third fact came after the backup")
		out := m.run("backup", "restore", made.Name)
		if strings.Contains(m.run("list"), "third fact") {
			m.t.Error("the restore changed nothing")
		}
		m.whole()
		m.undo(out)
		if !strings.Contains(m.run("list"), "third fact") {
			m.t.Error("the undo changed nothing")
		}
	},
	"backup restore to it and its undo": func(m placed) {
		dir := m.t.TempDir()
		copyFolder(m.t, m.original, dir)
		other := filepath.Join(dir, "m.db")
		m.command("learn", "the fourth fact is of another memory", "--db", other)
		var made struct{ Path string }
		if err := json.Unmarshal([]byte(m.command("backup", "--json", "--db", other)), &made); err != nil {
			m.t.Fatal(err)
		}
		out := m.command("backup", "restore", made.Path, "--to", m.name, "--db", other)
		if !strings.Contains(m.run("list"), "fourth fact") {
			m.t.Error("the restore changed nothing")
		}
		m.whole()
		m.undo(out)
		if strings.Contains(m.run("list"), "fourth fact") {
			m.t.Error("the undo changed nothing")
		}
	},
	"tokens": func(m placed) {
		m.run("token", "create", "arm")
		if _, err := os.Stat(m.real + ".tokens"); err != nil {
			m.t.Errorf("not beside the file: %v", err)
		}
		var list struct{ Tokens []struct{ Name string } }
		if m.json(&list, "token", "list"); len(list.Tokens) != 1 || list.Tokens[0].Name != "arm" {
			m.t.Errorf("tokens: %+v", list)
		}
		m.run("token", "revoke", "arm")
		if m.json(&list, "token", "list"); len(list.Tokens) != 0 {
			m.t.Errorf("tokens: %+v", list)
		}
	},
}

// Whatever name a memory has, each command finds its log, its payloads and what else belongs to it.
func TestCommandsFindWhatBelongsToAMemory(t *testing.T) {
	t.Setenv("ROBOTMEM_HOME", t.TempDir())
	t.Setenv("ROBOTMEM_EMBEDDER", "none")
	original := template(t)
	for shape, name := range shapes {
		for command, do := range inPlace {
			t.Run(shape+"/"+command, func(t *testing.T) {
				dir := t.TempDir()
				copyFolder(t, original, dir)
				m := placed{t: t, name: name(t, t.TempDir(), filepath.Join(dir, "m.db")), original: original}
				m.real = realPath(t, m.name)
				do(m)
				m.whole()
				if left := strays(t, m); len(left) > 0 {
					t.Errorf("left over: %q", left)
				}
			})
		}
	}
}

const payloadSize = 300 << 10 // more than the file holds

// template makes the memory that the others are copies of.
func template(t *testing.T) string {
	t.Helper()
	data := make([]byte, payloadSize)
	for i := range data {
		data[i] = byte(rand.Int())
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "trace.bin")
	if err := os.WriteFile(file, data, 0o600); err != nil {
		t.Fatal(err)
	}
	m := placed{t: t, name: filepath.Join(dir, "memory", "m.db")}
	m.run("learn", "the first fact of the gripper")
	m.run("save-perception", "the second fact, with a trace", "--file", file, "--perception-type", "tactile")
	return filepath.Dir(m.name)
}

func copyFolder(t *testing.T, from, to string) {
	t.Helper()
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
}

// command runs the program and fails unless it succeeds.
func (m placed) command(args ...string) string {
	m.t.Helper()
	code, out, errs := runArgs(m.t, args...)
	if code != 0 {
		m.t.Fatalf("robotmem %q: exit code %d\n%s%s", args, code, out, errs)
	}
	return out
}

func (m placed) run(args ...string) string {
	m.t.Helper()
	return m.command(append(args, "--db", m.name)...)
}

func (m placed) json(to any, args ...string) {
	m.t.Helper()
	out := m.run(append(args, "--json")...)
	if err := json.Unmarshal([]byte(out), to); err != nil {
		m.t.Fatalf("%v\n%s", err, out)
	}
}

// undo runs the command that a restore has printed.
func (m placed) undo(out string) {
	m.t.Helper()
	found := regexp.MustCompile(`robotmem backup restore (.+) --to (.+)`).FindStringSubmatch(out)
	if found == nil {
		m.t.Fatalf("no undo in\n%s", out)
	}
	m.command("backup", "restore", unquoteShell(m.t, found[1]), "--to", unquoteShell(m.t, found[2]), "--db", m.name)
	m.whole()
}

// unquoteShell reads a word as a shell does.
func unquoteShell(t *testing.T, word string) string {
	t.Helper()
	out, err := testShell("printf %s " + word)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// whole fails unless the memory has all that its doctor reads, the payload too.
func (m placed) whole() {
	m.t.Helper()
	m.run("doctor", "--deep")
	var stats struct {
		PayloadBytes int64 `json:"payload_bytes"`
	}
	if m.json(&stats, "stats"); stats.PayloadBytes < payloadSize {
		m.t.Errorf("the payload is lost: %d bytes", stats.PayloadBytes)
	}
}

// strays are the names beside the memory that are of no known kind.
func strays(t *testing.T, m placed) (left []string) {
	t.Helper()
	known := regexp.MustCompile(`^(\.(payloads|payloads\.owner|tokens|tokens\.lock|secret|backups\.json)|(\.before-restore-[0-9TZ.]+|\.damaged-[0-9TZ.]+)?(-wal|\.payloads|\.payloads\.owner)?)$`)
	for _, path := range []string{m.real, m.name} {
		all, err := filepath.Glob(filepath.Join(filepath.Dir(path), "*"))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range all {
			suffix, of := strings.CutPrefix(filepath.Base(name), filepath.Base(path))
			if of && !known.MatchString(suffix) {
				left = append(left, name)
			}
		}
	}
	return left
}

// damageAt clears the root page of an index, which costs no row.
func damageAt(t *testing.T, path string) {
	t.Helper()
	db, err := sqlite3.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	root := columnOf(t, db, "SELECT rootpage FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL AND tbl_name = 'memories' LIMIT 1")
	size := columnOf(t, db, "PRAGMA page_size")
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.WriteAt(make([]byte, size), (root-1)*size)
	if err := errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
}

func columnOf(t *testing.T, db *sqlite3.Conn, sql string) (n int64) {
	t.Helper()
	stmt, _, err := db.Prepare(sql)
	if err != nil {
		t.Fatal(err)
	}
	defer stmt.Close()
	if !stmt.Step() {
		t.Fatalf("%s: %v", sql, stmt.Err())
	}
	return stmt.ColumnInt64(0)
}

func realPath(t *testing.T, path string) string {
	t.Helper()
	path, err := filepath.Abs(path)
	if err == nil {
		path, err = filepath.EvalSymlinks(path)
	}
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func sameAs(a, b string) bool {
	one, err := os.Stat(a)
	other, oerr := os.Stat(b)
	return err == nil && oerr == nil && os.SameFile(one, other)
}

func testShell(line string) (string, error) {
	out, err := exec.Command("sh", "-c", line).Output()
	return string(out), err
}
