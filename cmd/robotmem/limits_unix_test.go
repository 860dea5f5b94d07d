//go:build unix

package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/eval"
	"github.com/robotmem/robotmem-go/robotmem/local"
	"github.com/robotmem/robotmem-go/robotmem/robotmemtest/rounds"
)

// limited is the program under limits of the shell, as in "ulimit -n 40".
func limited(t *testing.T, limits string, args ...string) *exec.Cmd {
	t.Helper()
	dir := t.TempDir()
	links := filepath.Join(dir, "bin")
	if err := os.Mkdir(links, 0o700); err != nil {
		t.Fatal(err)
	}
	program, err := os.Executable() // it is robotmem under this name
	if err == nil {
		err = os.Symlink(program, filepath.Join(links, "robotmem"))
	}
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // a guard against a hang
	t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, "sh", append([]string{"-c", limits + ` && exec "$0" "$@"`, filepath.Join(links, "robotmem")}, args...)...)
	cmd.Env = append(os.Environ(), "ROBOTMEM_HOME="+dir, "ROBOTMEM_EMBEDDER=none")
	return cmd
}

// startWeb starts a node and returns its address. Its log is printed if the test fails.
func startWeb(t *testing.T, cmd *exec.Cmd) string {
	t.Helper()
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var errs strings.Builder
	cmd.Stderr = &errs
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt)
		_ = cmd.Wait()
		if t.Failed() {
			t.Log(errs.String())
		}
	})
	url, _ := bufio.NewReader(out).ReadString('\n')
	if url = strings.TrimSpace(url); !strings.HasPrefix(url, "http://") {
		t.Fatalf("it prints %q", url)
	}
	return url
}

// guard ends a call that hangs. It is less than a node waits for the head of a request.
const guard = 4 * time.Second

// ask returns the status and the body of an answer.
func ask(t *testing.T, method, url, body string) (int, string) {
	t.Helper()
	return askWithin(t, guard, method, url, body)
}

func askWithin(t *testing.T, limit time.Duration, method, url, body string) (int, string) {
	t.Helper()
	client := &http.Client{Timeout: limit, Transport: &http.Transport{DisableKeepAlives: true}}
	req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := client.Do(req)
	if err != nil {
		return 0, err.Error()
	}
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	if err != nil {
		return 0, err.Error()
	}
	return res.StatusCode, string(data)
}

// With few open files, connections that never send a request keep no caller out and
// no file closed.
func TestHalfOpenConnectionsLeaveFilesForTheMemory(t *testing.T) {
	t.Parallel()
	url := startWeb(t, limited(t, "ulimit -n 40", "web", "--addr", "127.0.0.1:0"))
	for i := range 200 {
		conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", strings.TrimPrefix(url, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		if i%2 == 0 {
			_, _ = io.WriteString(conn, "POST /api/learn HTTP/1.1\r\nHost: loc") // the node may have closed it
		}
		if i%20 != 19 {
			continue
		}
		if code, body := ask(t, "POST", url+"/api/learn", fmt.Sprintf(`{"insight":"the crate at dock %d weighs %d kg"}`, i, 10+i)); code != 200 {
			t.Fatalf("learn beside %d half-open connections: %d %s", i+1, code, body)
		}
		if code, body := ask(t, "POST", url+"/api/recall", fmt.Sprintf(`{"query":"crate at dock %d","n":1}`, i)); code != 200 || !strings.Contains(body, fmt.Sprint(10+i, " kg")) {
			t.Fatalf("recall beside %d half-open connections: %d %s", i+1, code, body)
		}
	}
}

// A limit that the program cannot work in is named at its start, and not met by a crash.
func TestLimitsThatAreTooLowAreNamed(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ limits, command, want string }{
		{"ulimit -v 921600", "learn crates", "robotmem: the address space is limited to 900 MiB"},
		{"ulimit -n 20", "web --addr 127.0.0.1:0", "robotmem: the limit of open files is 20"},
	} {
		t.Run(tt.limits, func(t *testing.T) {
			if strings.Contains(tt.limits, "-v") && runtime.GOOS != "linux" {
				t.Skip("only Linux limits the address space")
			}
			for range 20 { // Go may end the program before it looks at its limits
				out, err := limited(t, tt.limits, strings.Fields(tt.command)...).CombinedOutput()
				if err != nil && strings.HasPrefix(string(out), tt.want) && strings.Count(string(out), "\n") == 1 {
					return
				}
				t.Logf("%v: %.600s", err, out)
			}
			t.Error("it was never named")
		})
	}
}

// The limits that the messages name are enough. This build also reserves the stacks of C
// threads; .ci/small tests one for 512 MiB.
func TestLimitsThatAreNamedAreEnough(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("only Linux limits the address space")
	}
	url := startWeb(t, limited(t, "ulimit -v 2359296 && ulimit -n 32", "web", "--addr", "127.0.0.1:0"))
	for i := range 20 {
		if code, body := ask(t, "POST", url+"/api/learn", fmt.Sprintf(`{"insight":"the crate at dock %d weighs %d kg"}`, i, 10+i)); code != 200 {
			t.Fatalf("learn: %d %s", code, body)
		}
		if code, body := ask(t, "POST", url+"/api/recall", `{"query":"crate at dock 0","n":1}`); code != 200 || !strings.Contains(body, "10 kg") {
			t.Fatalf("recall: %d %s", code, body)
		}
	}
}

// The memory in use of a node of 20,000 facts goes by --memory.
func TestMemoryBoundsWhatIsResident(t *testing.T) {
	rounds.OnlyInCI(t, "25,000 facts in two nodes")
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("the memory in use is read from /proc")
	}
	db := filepath.Join(t.TempDir(), "memory.db")
	m, err := local.Open(t.Context(), db, local.Options{Durability: local.DurabilityNormal})
	if err != nil {
		t.Fatal(err)
	}
	facts := eval.NewFacts()
	for from := range 4 {
		batch := &robotmem.LearnBatchRequest{}
		for i := range 5000 {
			batch.Items = append(batch.Items, facts.Fact(5000*from+i))
		}
		if _, err := m.LearnBatch(t.Context(), batch); err != nil {
			t.Fatal(err)
		}
	}
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	next := 20000 // not stored yet
	resident := func(memory string) (kib int64) {
		cmd := limited(t, "true", "web", "--addr", "127.0.0.1:0", "--db", db, "--memory", memory)
		cmd.Env = append(cmd.Env, "GOGC=", "GOMEMLIMIT=") // those of TestMain
		url := startWeb(t, cmd)
		for i := range 40 {
			code, body := askWithin(t, time.Minute, "GET", fmt.Sprintf("%s/api/memories?limit=500&page=%d", url, i+1), "")
			if code != 200 {
				t.Fatalf("list: %d %s", code, body)
			}
		}
		for range 5 { // the writer has the largest page cache
			batch := &robotmem.LearnBatchRequest{}
			for range 1000 {
				batch.Items = append(batch.Items, facts.Fact(next))
				next++
			}
			data, err := json.Marshal(batch)
			if err != nil {
				t.Fatal(err)
			}
			if code, body := askWithin(t, time.Minute, "POST", url+"/api/learn/batch", string(data)); code != 200 {
				t.Fatalf("learn_batch: %d %s", code, body)
			}
		}
		code, body := ask(t, "POST", url+"/api/recall", `{"query":"gripper","n":5}`)
		if code != 200 {
			t.Fatalf("recall: %d %s", code, body)
		}
		status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", cmd.Process.Pid))
		if err != nil {
			t.Fatal(err)
		}
		_, rest, _ := strings.Cut(string(status), "RssAnon:")
		text, _, _ := strings.Cut(strings.TrimSpace(rest), " ")
		kib, err = strconv.ParseInt(text, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		return kib
	}
	large := resident("1GiB")
	small := resident("64MiB")
	t.Logf("%d KiB with 1GiB, %d KiB with 64MiB", large, small)
	if 4*small > 3*large {
		t.Errorf("%d KiB are resident with 64MiB, %d KiB with 1GiB; want at most 3/4", small, large)
	}
}
