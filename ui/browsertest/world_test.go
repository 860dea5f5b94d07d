package browsertest

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// patience is how long a browser on a busy machine may take for one step.
const patience = 60 * time.Second

// world is what all tests share: the program, a browser, and a node that serves
// a seeded file.
type world struct {
	root      string // of the module
	binary    string
	artifacts string
	axe       string // source of axe-core, "" if it is not there
	program   string // the browser
	browser   context.Context
	node      *node
	seed      *seed
	month     *month
	monthNode *node // serves the month
}

func newWorld(t *testing.T) *world {
	t.Helper()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	w := &world{root: root, artifacts: os.Getenv("ROBOTMEM_ARTIFACTS")}
	if w.artifacts == "" {
		w.artifacts = filepath.Join(root, "artifacts")
	}
	w.artifacts = filepath.Join(w.artifacts, "browser")
	if err := os.MkdirAll(w.artifacts, 0o755); err != nil {
		t.Fatal(err)
	}
	w.program = w.chromium(t)
	if !testing.Short() {
		w.findAxe(t)
	}
	w.binary = filepath.Join(t.TempDir(), "robotmem")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", w.binary, "./cmd/robotmem")
	build.Dir = root // the program belongs to another module than these tests
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	w.browser = openBrowser(t, w.program)
	w.seed = w.newSeed(t)
	w.node = w.serve(t, w.seed.db)
	return w
}

func missing(t *testing.T, format string, args ...any) {
	t.Helper()
	if os.Getenv("CI") != "" {
		t.Fatalf(format, args...)
	}
	t.Skipf(format, args...)
}

func (w *world) chromium(t *testing.T) string {
	t.Helper()
	for _, name := range []string{"chromium", "chromium-headless-shell", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	missing(t, "no browser here; apt-get install chromium")
	return ""
}

// findAxe reads axe-core. Without it everything but accessibility is tested.
func (w *world) findAxe(t *testing.T) {
	t.Helper()
	source, err := os.ReadFile(filepath.Join(w.root, "bin/axe/node_modules/axe-core/axe.min.js"))
	switch {
	case err == nil:
		w.axe = string(source)
	case os.Getenv("CI") != "":
		t.Fatal("axe-core is not here; run .ci/axe")
	default:
		t.Log("axe-core is not here, so accessibility is not checked; run .ci/axe")
	}
}

// openBrowser starts a browser that draws pages by the processor alone, and only WebGL by
// SwiftShader, which would take several times as long for pages.
func openBrowser(t *testing.T, path string) context.Context {
	t.Helper()
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(path),
		chromedp.NoSandbox,
		chromedp.UserDataDir(t.TempDir()),
		chromedp.Flag("disable-gpu", true),
		chromedp.Flag("enable-unsafe-swiftshader", true),
		chromedp.Flag("disable-quic", true),
		chromedp.Flag("disable-background-networking", true),
		chromedp.Flag("disable-component-update", true),
		chromedp.Flag("hide-scrollbars", false),
		chromedp.Flag("autoplay-policy", "no-user-gesture-required"),
		chromedp.Flag("lang", "en-GB"),
		chromedp.Env("LANG=C.UTF-8", "TZ=UTC"),
	)
	// Not t.Context: it ends before the cleanups, and the browser is to be
	// closed by them, after its tabs.
	allocator, stop := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, cancel := chromedp.NewContext(allocator)
	t.Cleanup(func() {
		if err := chromedp.Cancel(ctx); err != nil && !errors.Is(err, context.Canceled) {
			t.Logf("closing the browser: %v", err)
		}
		cancel()
		stop()
	})
	if err := chromedp.Do(ctx); err != nil {
		t.Fatalf("%s does not start: %v", path, err)
	}
	return ctx
}

// command is the program with a home of its own.
func (w *world) command(ctx context.Context, home string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, w.binary, args...)
	cmd.Env = append(os.Environ(), "ROBOTMEM_HOME="+home, "NO_COLOR=1", "TZ=UTC", "ROBOTMEM_EMBEDDER=none")
	return cmd
}

// run runs the program to its end and returns what it prints.
func (w *world) run(t *testing.T, args ...string) string {
	t.Helper()
	var stderr strings.Builder
	cmd := w.command(t.Context(), t.TempDir(), args...)
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("robotmem %s: %v\n%s", strings.Join(args, " "), err, stderr.String())
	}
	return string(out)
}

// node is a running robotmem web.
type node struct {
	url  string
	home string
	stop func()
	gone atomic.Bool // its pages may complain that they do not reach it
}

// serve starts robotmem web on a file and waits until it says where it is.
func (w *world) serve(t *testing.T, db string, args ...string) *node {
	t.Helper()
	return w.start(t, t.TempDir(), append([]string{"web", "--db", db, "--addr", "127.0.0.1:0"}, args...)...)
}

// start runs a command that serves, and reads its address from its output.
func (w *world) start(t *testing.T, home string, args ...string) *node {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	cmd := w.command(ctx, home, args...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 15 * time.Second
	var stderr strings.Builder
	cmd.Stderr = &stderr
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	n, ended := &node{home: home}, make(chan struct{})
	n.stop = func() {
		n.gone.Store(true)
		cancel()
		<-ended
	}
	t.Cleanup(n.stop)
	address := make(chan string, 1)
	go func() {
		defer close(ended)
		lines := bufio.NewScanner(stdout)
		for lines.Scan() {
			if at := strings.Index(lines.Text(), "http://127.0.0.1:"); at >= 0 {
				address <- strings.Fields(lines.Text()[at:])[0]
				break
			}
		}
		_, _ = io.Copy(io.Discard, stdout)
		_ = cmd.Wait() // interrupted by stop
	}()
	select {
	case url := <-address:
		n.url = strings.TrimRight(url, "/")
		return n
	case <-ended:
		t.Fatalf("robotmem %s ended: %s", strings.Join(args, " "), stderr.String())
	case <-time.After(2 * patience):
		t.Fatalf("robotmem %s gives no address", strings.Join(args, " "))
	}
	return nil
}

// get fetches an address of the node without the browser.
func (n *node) get(t *testing.T, path string, header ...string) (*http.Response, []byte) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, n.url+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	res, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res, body
}
