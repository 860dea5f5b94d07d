package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/ncruces/go-sqlite3"
	"github.com/robotmem/robotmem-go/cmd/robotmem/internal/demo"
	"github.com/robotmem/robotmem-go/robotmem/robotmemtest/rounds"
	"github.com/rogpeppe/go-internal/testscript"
)

// testTemp is removed after all tests.
var testTemp string

func TestMain(m *testing.M) {
	testscript.Main(temporary{m}, map[string]func(){"robotmem": main})
}

// temporary runs tests with a folder of their own and a home without settings.
type temporary struct{ testscript.TestingM }

func (t temporary) Run() int {
	rounds.SideBySide(3) // many of them wait for nodes
	var err error
	if testTemp, err = os.MkdirTemp("", "robotmem-test-"); err != nil {
		panic(err)
	}
	defer os.RemoveAll(testTemp)
	for name, value := range map[string]string{"ROBOTMEM_HOME": filepath.Join(testTemp, "home"), "ROBOTMEM_DURABILITY": "normal", "GOGC": "off", "GOMEMLIMIT": "512MiB"} {
		if err := os.Setenv(name, value); err != nil {
			panic(err)
		}
	}
	return t.TestingM.Run()
}

// TestScripts runs testdata/script: what a user types and what comes back.
func TestScripts(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		Condition: func(cond string) (bool, error) {
			if cond != "ci" {
				return false, fmt.Errorf("%s: no such condition", cond)
			}
			return rounds.InCI(), nil
		},
		Setup: func(e *testscript.Env) error {
			e.Setenv("ROBOTMEM_HOME", filepath.Join(e.WorkDir, "home"))
			e.Setenv("HOME", filepath.Join(e.WorkDir, "user"))
			// What survives a power cut is tested elsewhere; here syncing only takes time.
			e.Setenv("ROBOTMEM_DURABILITY", "normal")
			// A third of the time of a short process is garbage collection.
			e.Setenv("GOGC", "off")
			e.Setenv("GOMEMLIMIT", "512MiB")
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"code":   codeCmd,
			"json":   jsonCmd,
			"sqlite": sqliteCmd,
			"facts":  factsCmd,
			"signal": signalCmd,
			"get":    getCmd,
			"url":    urlCmd,
			"damage": damageCmd,
			"demo":   demoMemoryCmd,
		},
	})
}

// runDemo runs the demo as a user does. It must succeed and print nothing on stderr.
func runDemo(args ...string) (*demo.Report, error) {
	var out, errs bytes.Buffer
	if code := run(append([]string{"demo", "--json"}, args...), strings.NewReader(""), &out, &errs); code != 0 || errs.Len() > 0 {
		return nil, fmt.Errorf("exit code %d: %s", code, errs.String())
	}
	r := &demo.Report{}
	return r, json.Unmarshal(out.Bytes(), r)
}

// demoMemory is the folder of one run of the demo, which the tests share, and its report.
var demoMemory = sync.OnceValues(func() (string, *demo.Report) {
	dir, err := os.MkdirTemp(testTemp, "demo-")
	if err != nil {
		panic(err)
	}
	r, err := runDemo("--dir", dir)
	if err != nil {
		panic(err)
	}
	return dir, r
})

// demo copies the memory of the demo to memory.db.
func demoMemoryCmd(ts *testscript.TestScript, neg bool, args []string) {
	_, r := demoMemory()
	ts.Check(os.CopyFS(ts.MkAbs("."), os.DirFS(filepath.Dir(r.DB))))
}

// code N robotmem ARGS... runs the program and demands its exit code. Its
// output is compared as that of exec is, through stdout and stderr files.
func codeCmd(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: code N program args...")
	}
	err := ts.Exec(args[1], args[2:]...)
	got := 0
	if exit := (*exec.ExitError)(nil); err != nil {
		if !errors.As(err, &exit) {
			ts.Fatalf("%v", err)
		}
		got = exit.ExitCode()
	}
	if fmt.Sprint(got) != args[0] {
		ts.Fatalf("exit code %d, want %s", got, args[0])
	}
}

// json FILE [PATH VALUE] demands that every line of the file is JSON, and that
// the value at the dot path of the last line, written as JSON, is VALUE. With
// @NAME in place of VALUE, it sets that variable to the text there.
func jsonCmd(ts *testscript.TestScript, neg bool, args []string) {
	var last any
	lines := bufio.NewScanner(strings.NewReader(ts.ReadFile(args[0])))
	lines.Buffer(nil, 64<<20)
	n := 0
	for lines.Scan() {
		if err := json.Unmarshal(lines.Bytes(), &last); err != nil {
			ts.Fatalf("line %d is not JSON: %v: %s", n+1, err, lines.Text())
		}
		n++
	}
	if n == 0 {
		ts.Fatalf("%s is empty", args[0])
	}
	if len(args) < 3 {
		return
	}
	for name := range strings.SplitSeq(args[1], ".") {
		switch v := last.(type) {
		case map[string]any:
			last = v[name]
		case []any:
			var i int
			if _, err := fmt.Sscan(name, &i); err != nil || i >= len(v) {
				ts.Fatalf("no item %s of %d", name, len(v))
			}
			last = v[i]
		}
	}
	if text, ok := last.(string); ok && strings.HasPrefix(args[2], "@") {
		ts.Setenv(args[2][1:], text)
		return
	}
	got, err := json.Marshal(last)
	ts.Check(err)
	if same := string(got) == args[2]; same == neg {
		ts.Fatalf("%s is %s, want %s", args[1], got, args[2])
	}
}

// sqlite FILE SQL runs SQL.
func sqliteCmd(ts *testscript.TestScript, neg bool, args []string) {
	db, err := sqlite3.Open("file:" + ts.MkAbs(args[0]))
	ts.Check(err)
	ts.Check(db.Exec(args[1]))
	ts.Check(db.Close())
}

// facts FILE N writes N different facts, one learn request a line.
func factsCmd(ts *testscript.TestScript, neg bool, args []string) {
	var n int
	_, err := fmt.Sscan(args[1], &n)
	ts.Check(err)
	var b bytes.Buffer
	for i := range n {
		fmt.Fprintf(&b, "{\"insight\":\"torque %d.5 Nm on joint %d\"}\n", i, i%7)
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), b.Bytes(), 0o644))
}

// signal NAME FILE ARGS... starts robotmem, waits until FILE matches a file
// that is not empty, sends the signal, and demands that the program ends. Its
// input is signal.in, if there is one, and stays open as a client's would. Its
// output is left in signal.out and signal.err, its exit code in signal.code.
func signalCmd(ts *testscript.TestScript, neg bool, args []string) {
	send := map[string]os.Signal{"INT": os.Interrupt, "TERM": syscall.SIGTERM, "KILL": os.Kill}[args[0]]
	cmd := exec.Command("robotmem", args[2:]...)
	cmd.Path = filepath.Join(strings.Split(ts.Getenv("PATH"), string(os.PathListSeparator))[0], "robotmem")
	cmd.Dir = ts.MkAbs(".")
	for _, name := range []string{"ROBOTMEM_HOME", "HOME", "PATH", "ROBOTMEM_DURABILITY", "GOGC", "GOMEMLIMIT"} {
		cmd.Env = append(cmd.Env, name+"="+ts.Getenv(name))
	}
	stdin, err := cmd.StdinPipe()
	ts.Check(err)
	defer stdin.Close()
	out, err := os.Create(ts.MkAbs("signal.out"))
	ts.Check(err)
	defer out.Close()
	errs, err := os.Create(ts.MkAbs("signal.err"))
	ts.Check(err)
	defer errs.Close()
	cmd.Stdout, cmd.Stderr = out, errs
	ts.Check(cmd.Start())
	if input, err := os.ReadFile(ts.MkAbs("signal.in")); err == nil {
		_, err := stdin.Write(input)
		ts.Check(err)
	}
	defer cmd.Process.Kill()
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(2 * time.Millisecond) {
		if matches, _ := filepath.Glob(ts.MkAbs(args[1])); len(matches) > 0 {
			if info, err := os.Stat(matches[0]); err == nil && info.Size() > 0 {
				break
			}
		}
		if time.Now().After(deadline) {
			ts.Fatalf("%s did not appear", args[1])
		}
	}
	ts.Check(cmd.Process.Signal(send))
	_ = cmd.Wait() // the code says more
	ts.Check(os.WriteFile(ts.MkAbs("signal.code"), fmt.Appendf(nil, "%d\n", cmd.ProcessState.ExitCode()), 0o644))
}

// url NAME FILE waits until FILE holds an address and sets the variable.
func urlCmd(ts *testscript.TestScript, neg bool, args []string) {
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		data, err := os.ReadFile(ts.MkAbs(args[1]))
		if url := strings.TrimSpace(string(data)); err == nil && strings.HasPrefix(url, "http://") && bytes.HasSuffix(data, []byte("\n")) {
			ts.Setenv(args[0], url)
			return
		}
		if time.Now().After(deadline) {
			ts.Fatalf("%s holds no address: %s", args[1], data)
		}
	}
}

// get STATUS URL FILE [TOKENFILE] asks over HTTP, with the token that the last
// file holds, and keeps the answer in FILE.
func getCmd(ts *testscript.TestScript, neg bool, args []string) {
	req, err := http.NewRequest(http.MethodGet, args[1], nil)
	ts.Check(err)
	if len(args) > 3 {
		req.Header.Set("Authorization", "Bearer "+strings.TrimSpace(ts.ReadFile(args[3])))
	}
	res, err := http.DefaultClient.Do(req)
	ts.Check(err)
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	ts.Check(err)
	if fmt.Sprint(res.StatusCode) != args[0] {
		ts.Fatalf("%s: status %d, want %s: %s", args[1], res.StatusCode, args[0], body)
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[2]), body, 0o644))
}
