package embedding_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/ollama/ollama/api"
)

const (
	startTimeout = 20 * time.Second
	startPoll    = 10 * time.Millisecond
	logTail      = 16 << 10
)

// ollamaServer is a real Ollama that belongs to one test, with a generated model. A fake
// would hide how Ollama cuts texts, refuses them and fails.
type ollamaServer struct {
	// URL is its address, which stays the same after a restart.
	URL string

	t      testing.TB
	binary string
	dir    string
	server *exec.Cmd // nil while it does not run
	client *api.Client
}

// startOllama starts a server without models that ends with the test. It skips the
// test if there is no binary, and fails it if ROBOTMEM_OLLAMA names a file that does
// not exist.
func startOllama(t testing.TB) *ollamaServer {
	t.Helper()
	o := &ollamaServer{t: t, binary: findBinary(t), dir: t.TempDir(), URL: "http://" + freeAddress(t)}
	base, err := url.Parse(o.URL)
	if err != nil {
		t.Fatal(err)
	}
	o.client = api.NewClient(base, http.DefaultClient)
	t.Cleanup(func() {
		o.Stop()
		if t.Failed() {
			o.tellLog()
		}
	})
	o.Start()
	return o
}

// findBinary returns the path of Ollama: the file that ROBOTMEM_OLLAMA names, otherwise
// the one that `make ollama` builds into the user's cache folder.
func findBinary(t testing.TB) string {
	t.Helper()
	if path := os.Getenv("ROBOTMEM_OLLAMA"); path != "" {
		if _, err := os.Stat(path); err != nil {
			t.Fatalf("ROBOTMEM_OLLAMA: %v", err)
		}
		return path
	}
	cache := os.Getenv("XDG_CACHE_HOME")
	if cache == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			t.Skipf("no home folder: %v", err)
		}
		cache = filepath.Join(home, ".cache")
	}
	path := filepath.Join(cache, "robotmem", "ollama-v0.11.4", "ollama")
	if _, err := os.Stat(path); err != nil {
		t.Skip("no Ollama to test with: build it with `make ollama`")
	}
	return path
}

// freeAddress returns an address at which nothing listens.
func freeAddress(t testing.TB) string {
	t.Helper()
	var config net.ListenConfig
	l, err := config.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	return l.Addr().String()
}

// Start starts the server again after Stop, at its address and with its models,
// and waits until it answers.
func (o *ollamaServer) Start() {
	o.t.Helper()
	if o.server != nil {
		o.t.Fatal("Ollama is running already")
	}
	log, err := os.OpenFile(o.logFile(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		o.t.Fatal(err)
	}
	defer log.Close()
	o.server = exec.Command(o.binary, "serve") //nolint:noctx // Stop ends it, with its children
	o.server.Env = append(os.Environ(),
		"OLLAMA_HOST="+o.URL,
		"OLLAMA_MODELS="+filepath.Join(o.dir, "models"),
		"HOME="+o.dir, "USERPROFILE="+o.dir)
	o.server.Stdout, o.server.Stderr = log, log
	ownGroup(o.server)
	if err := o.server.Start(); err != nil {
		o.server = nil
		o.t.Fatalf("start %s: %v", o.binary, err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	for o.client.Heartbeat(ctx) != nil {
		select {
		case <-ctx.Done():
			o.t.Fatalf("%s gave no answer within %v", o.URL, startTimeout)
		case <-time.After(startPoll):
		}
	}
}

// Stop kills the server and its children as a crash would, and waits for their end.
// It does nothing if the server does not run.
func (o *ollamaServer) Stop() {
	o.t.Helper()
	if o.server == nil {
		return
	}
	if err := killGroup(o.server); err != nil {
		o.t.Errorf("kill Ollama: %v", err)
	}
	_ = o.server.Wait() // "signal: killed"
	o.server = nil
}

// CreateModel makes an embedding model of random weights under a name; its
// vectors have ggufDim numbers.
func (o *ollamaServer) CreateModel(name string) {
	o.t.Helper()
	file := ggufModel(1)
	digest := fmt.Sprintf("sha256:%x", sha256.Sum256(file))
	if err := o.client.CreateBlob(o.t.Context(), digest, bytes.NewReader(file)); err != nil {
		o.t.Fatalf("upload a model: %v", err)
	}
	request := &api.CreateRequest{Model: name, Files: map[string]string{"model.gguf": digest}}
	if err := o.client.Create(o.t.Context(), request, func(api.ProgressResponse) error { return nil }); err != nil {
		o.t.Fatalf("create the model %s: %v", name, err)
	}
}

func (o *ollamaServer) logFile() string { return filepath.Join(o.dir, "log") }

// tellLog logs the end of the server's output.
func (o *ollamaServer) tellLog() {
	data, err := os.ReadFile(o.logFile())
	if err != nil {
		return
	}
	o.t.Logf("Ollama wrote:\n%s", data[max(0, len(data)-logTail):])
}
