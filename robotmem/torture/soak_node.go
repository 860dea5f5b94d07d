package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// process is a program under test.
type process struct {
	name   string
	cmd    *exec.Cmd
	ended  chan error
	stderr string // the file that it logs to
}

// startProcess runs the program in a home of its own.
func startProcess(ctx context.Context, r *rig, name, home string, args ...string) (*process, io.WriteCloser, *bufio.Reader, error) {
	log, err := os.Create(filepath.Join(home, name+".log"))
	if err != nil {
		return nil, nil, nil, err
	}
	defer log.Close()
	p := &process{name: name, ended: make(chan error, 1), stderr: log.Name()}
	p.cmd = exec.CommandContext(ctx, r.program, args...)
	p.cmd.Env = append(os.Environ(), "ROBOTMEM_HOME="+home, "ROBOTMEM_EMBEDDER=none", "ROBOTMEM_DURABILITY=normal", "ROBOTMEM_LOG_LEVEL=error")
	p.cmd.Stderr = log
	in, err := p.cmd.StdinPipe()
	if err != nil {
		return nil, nil, nil, err
	}
	// A pipe of ours: Wait would close one of its own before it is read to its end.
	read, write, err := os.Pipe()
	if err != nil {
		return nil, nil, nil, err
	}
	p.cmd.Stdout = write
	err = p.cmd.Start()
	_ = write.Close() // the child has its own
	if err != nil {
		_ = read.Close()
		return nil, nil, nil, err
	}
	go func() { p.ended <- p.cmd.Wait() }()
	return p, in, bufio.NewReaderSize(read, 1<<20), nil
}

// stop ends the process as its user would, and waits for it.
func (p *process) stop() error {
	_ = p.cmd.Process.Signal(syscall.SIGTERM) // one that has ended needs none
	select {
	case err := <-p.ended:
		p.ended <- err
		return err
	case <-time.After(30 * time.Second):
		p.kill()
		return errors.New("it is still there 30 s after it was told to end")
	}
}

func (p *process) kill() {
	_ = p.cmd.Process.Kill()
	p.ended <- <-p.ended
}

// panics are the lines of the log that tell of one.
func (p *process) panics() (lines []string) {
	log, err := os.ReadFile(p.stderr)
	if err != nil {
		return []string{err.Error()}
	}
	for line := range strings.SplitSeq(string(log), "\n") {
		if strings.Contains(line, "panic") || strings.HasPrefix(line, "fatal error") || strings.HasPrefix(line, "goroutine ") {
			lines = append(lines, line)
		}
	}
	return lines
}

// gauges are what a process takes. What cannot be read is 0.
type gauges struct {
	goroutines, files int
	memory            int64 // bytes, resident
}

// gauges reads what Linux knows of the process; elsewhere there is nothing.
func (p *process) gauges() (g gauges) {
	proc := "/proc/" + strconv.Itoa(p.cmd.Process.Pid)
	files, err := os.ReadDir(proc + "/fd")
	if err != nil {
		return g
	}
	g.files = len(files)
	status, err := os.ReadFile(proc + "/status")
	if err != nil {
		return g
	}
	if m := regexp.MustCompile(`VmRSS:\s+(\d+) kB`).FindSubmatch(status); m != nil {
		kib, _ := strconv.ParseInt(string(m[1]), 10, 64)
		g.memory = kib << 10
	}
	return g
}

// node is a robotmem web, and what it has acknowledged.
type node struct {
	*process
	url, db string
	token   string // "" if it asks for none
	client  *http.Client

	mu       sync.Mutex         // guards what follows
	facts    map[int64]string   // as they were learnt
	updates  map[int64][]string // texts that they may have instead
	purges   map[int64]bool     // they may be gone, for somebody asked for it
	ids      []int64
	sessions []string
	cursors  []string
}

func startNode(ctx context.Context, r *rig, name string, tokens bool) (*node, error) {
	home, err := r.folder(name)
	if err != nil {
		return nil, err
	}
	n := &node{client: &http.Client{Transport: &http.Transport{DisableCompression: true, MaxIdleConnsPerHost: 8}}, facts: map[int64]string{}, updates: map[int64][]string{}, purges: map[int64]bool{}, db: filepath.Join(home, "memory.db")}
	if tokens {
		create := exec.CommandContext(ctx, r.program, "token", "create", "soak")
		create.Env = append(os.Environ(), "ROBOTMEM_HOME="+home)
		secret, err := create.Output()
		if err != nil {
			return nil, fmt.Errorf("making a token: %w", err)
		}
		if n.token = string(bytes.TrimSpace(secret)); !strings.HasPrefix(n.token, "rmt_") {
			return nil, fmt.Errorf("%q is no token", n.token)
		}
	}
	p, _, out, err := startProcess(ctx, r, name, home, "web", "--addr", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	n.process = p
	line, err := out.ReadString('\n')
	if err != nil {
		p.kill()
		return nil, fmt.Errorf("%s does not say where it listens: %w", name, err)
	}
	n.url = strings.TrimSpace(line)
	return n, nil
}

// newRequest is a request that the node's guards let through.
func (n *node) newRequest(ctx context.Context, method, path string, body io.Reader) (*http.Request, error) {
	req, err := http.NewRequestWithContext(ctx, method, n.url+path, body)
	if err == nil && n.token != "" {
		req.Header.Set("Authorization", "Bearer "+n.token)
	}
	return req, err
}

// get reads one answer that must be there.
func (n *node) get(ctx context.Context, path string, into any) error {
	req, err := n.newRequest(ctx, http.MethodGet, path, nil)
	if err != nil {
		return err
	}
	res, err := n.client.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err == nil && res.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %.200s", res.Status, body)
	}
	if err != nil || into == nil {
		return err
	}
	if raw, ok := into.(*[]byte); ok {
		*raw = body
		return nil
	}
	return json.Unmarshal(body, into)
}

var goroutines = regexp.MustCompile(`(?m)^go_goroutines (\d+)`)

// atRest is the least that the node needs within a time in which nobody asks it
// for anything.
func (n *node) atRest(ctx context.Context, d time.Duration) (least gauges) {
	for end := time.Now().Add(d); time.Now().Before(end) && ctx.Err() == nil; time.Sleep(d / 10) {
		n.client.CloseIdleConnections()
		g := n.gauges()
		var text []byte
		if n.get(ctx, "/metrics", &text) == nil {
			if m := goroutines.FindSubmatch(text); m != nil {
				g.goroutines, _ = strconv.Atoi(string(m[1]))
			}
		}
		if g.goroutines == 0 || g.files == 0 || g.memory == 0 {
			continue // it could not be read this time
		}
		if least.goroutines == 0 {
			least = g
		}
		least = gauges{min(least.goroutines, g.goroutines), min(least.files, g.files), min(least.memory, g.memory)}
	}
	return least
}

// maxPool bounds what of earlier answers is asked for again.
const maxPool = 500

// told notes a text that a memory may have from now on, whether or not the
// update is answered.
func (n *node) told(id int64, text string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.updates[id] = append(n.updates[id], strings.TrimSpace(text))
}

// purged notes that somebody asks for a memory to be destroyed, whether or not
// that is answered.
func (n *node) purged(id int64) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.purges[id] = true
}

// mayBeGone is true of a memory that somebody wanted destroyed.
func (n *node) mayBeGone(id int64) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.purges[id]
}

// learnt notes a fact that was acknowledged as new.
func (n *node) learnt(id int64, text string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.facts[id] = strings.TrimSpace(text)
}

// texts are what an acknowledged fact may say.
func (n *node) texts() map[int64][]string {
	n.mu.Lock()
	defer n.mu.Unlock()
	out := map[int64][]string{}
	for id, text := range n.facts {
		out[id] = append([]string{text}, n.updates[id]...)
	}
	return out
}

// seen takes ids, sessions and cursors out of an answer, to ask for them.
func (n *node) seen(answer any) {
	n.mu.Lock()
	defer n.mu.Unlock()
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			if id, ok := v["memory_id"].(json.Number); ok {
				i, _ := id.Int64()
				n.ids = keep(n.ids, i)
			}
			if s, ok := v["session_id"].(string); ok && s != "" {
				n.sessions = keep(n.sessions, s)
			}
			if c, ok := v["next"].(string); ok {
				n.cursors = keep(n.cursors, c)
			}
			for _, k := range slices.Sorted(maps.Keys(v)) {
				walk(v[k])
			}
		case []any:
			for _, item := range v[:min(len(v), 20)] {
				walk(item)
			}
		}
	}
	walk(answer)
}

func keep[T comparable](pool []T, v T) []T {
	if slices.Contains(pool, v) {
		return pool
	}
	if len(pool) >= maxPool {
		pool = pool[maxPool/2:]
	}
	return append(pool, v)
}
