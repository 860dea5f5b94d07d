package python_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/client"
	"github.com/robotmem/robotmem-go/robotmem/robotmemtest"
)

// python is the interpreter. Without one the test is skipped, except in CI.
func python(t *testing.T) string {
	t.Helper()
	path, err := exec.LookPath("python3")
	if err == nil {
		return path
	}
	if os.Getenv("CI") != "" {
		t.Fatal("python3 is needed: apt-get install python3")
	}
	t.Skip("python3 is needed: apt-get install python3")
	return ""
}

// child is testdata/child.py, which calls the package.
type child struct {
	mu  sync.Mutex // one call at a time
	in  io.Writer
	out *bufio.Reader
}

func startChild(t *testing.T) *child {
	t.Helper()
	// The child ends when its stdin is closed, after the context of the test has ended.
	cmd := exec.CommandContext(context.WithoutCancel(t.Context()), python(t), "-B", "-X", "utf8", "-W", "error", filepath.Join("testdata", "child.py"))
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(in.Close(), cmd.Wait()); err != nil {
			t.Error(err)
		}
	})
	return &child{in: in, out: bufio.NewReader(out)}
}

// children run calls concurrently, because one call may wait for another.
type children struct {
	t   *testing.T // they end with this test
	mu  sync.Mutex // guards all
	all []*child
}

// take locks an idle child, or starts a new one.
func (cs *children) take() *child {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	for _, c := range cs.all {
		if c.mu.TryLock() {
			return c
		}
	}
	c := startChild(cs.t)
	c.mu.Lock()
	cs.all = append(cs.all, c)
	return c
}

// question and answer are the lines of the protocol; see testdata/child.py.
type question struct {
	URL     string `json:"url"`
	Op      string `json:"op"`
	Request any    `json:"request"`
}

type answer struct {
	Response json.RawMessage `json:"response"`
	Read     int             `json:"read"`
	Error    *struct {
		Kind   robotmem.Kind `json:"kind"`
		Field  string        `json:"field"`
		Detail string        `json:"detail"`
		Op     string        `json:"op"`
	} `json:"error"`
}

func (c *child) exchange(line any) (*answer, error) {
	data, err := json.Marshal(line)
	if err != nil {
		return nil, err
	}
	if _, err := c.in.Write(append(data, '\n')); err != nil {
		return nil, err
	}
	reply, err := c.out.ReadBytes('\n')
	if err != nil {
		return nil, fmt.Errorf("the child went away: %w", err)
	}
	a := new(answer)
	return a, json.Unmarshal(reply, a)
}

// call runs a call in an idle child.
func (cs *children) call(url, op string, request any, data io.Reader) (json.RawMessage, error) {
	c := cs.take()
	defer c.mu.Unlock()
	return c.call(url, op, request, data)
}

// call runs one call. It reads the payload that the child requests from data.
func (c *child) call(url, op string, request any, data io.Reader) (json.RawMessage, error) {
	a, err := c.exchange(question{url, op, request})
	for err == nil && a.Read > 0 {
		a, err = c.exchange(piece(data, a.Read))
	}
	if err != nil {
		return nil, &robotmem.Error{Op: op, Kind: robotmem.Internal, Err: err}
	}
	if e := a.Error; e != nil {
		return nil, &robotmem.Error{Op: e.Op, Kind: e.Kind, Field: e.Field, Err: errors.New(e.Detail)}
	}
	return a.Response, nil
}

func piece(data io.Reader, size int) any {
	p := make([]byte, size)
	n, err := data.Read(p)
	if n == 0 && err != nil && err != io.EOF {
		return map[string]string{"broken": err.Error()}
	}
	return map[string][]byte{"data": p[:n]}
}

// service implements robotmem.Service and robotmem.Streams with the Python client: it
// passes the HTTP requests of the Go client to the child.
type service struct {
	*client.Client
	c   *children
	url string
}

var (
	_ robotmem.Service = service{}
	_ robotmem.Streams = service{}
)

func newService(c *children, url string) service {
	routes := http.NewServeMux()
	for _, op := range robotmem.Ops() {
		routes.HandleFunc(op.Route, func(w http.ResponseWriter, r *http.Request) {
			request, err := fields(op, r)
			if err != nil {
				panic(err) // requests of the Go client are valid
			}
			res, err := c.call(url, op.Name, request, nil)
			answerAs(w, res, err)
		})
	}
	return service{client.New("http://python", client.Options{HTTP: &http.Client{Transport: inProcess{routes}}}), c, url}
}

// inProcess answers requests without a network.
type inProcess struct{ http.Handler }

func (l inProcess) RoundTrip(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	l.ServeHTTP(w, r)
	return w.Result(), nil
}

// fields returns the fields of a request from its path, query and body.
func fields(op *robotmem.Op, r *http.Request) (map[string]json.RawMessage, error) {
	values := r.URL.Query()
	for _, name := range op.Fields() {
		if v := r.PathValue(name); v != "" {
			values[name] = []string{v}
		}
	}
	overlay, err := op.Request(values)
	if err != nil {
		return nil, err
	}
	all := map[string]json.RawMessage{}
	if r.Body != nil {
		if err := json.NewDecoder(r.Body).Decode(&all); err != nil && err != io.EOF {
			return nil, err
		}
	}
	return all, json.Unmarshal(overlay, &all)
}

func answerAs(w http.ResponseWriter, res json.RawMessage, err error) {
	if e := (*robotmem.Error)(nil); errors.As(err, &e) {
		w.Header().Set("Content-Type", "application/problem+json")
		w.WriteHeader(http.StatusBadRequest) // the body has the kind
		res, _ = json.Marshal(map[string]string{"kind": string(e.Kind), "field": e.Field, "detail": e.Detail(), "op": e.Op})
	}
	_, _ = w.Write(res)
}

// SavePerceptionFrom implements robotmem.Streams.
func (s service) SavePerceptionFrom(_ context.Context, r *robotmem.SavePerceptionRequest, data io.Reader) (*robotmem.SavePerceptionResponse, error) {
	request, err := robotmem.RequestJSON(r)
	if err == nil && bytes.Contains(request, []byte(`\ufffd`)) { // the encoder replaces a byte that is not UTF-8
		err = fmt.Errorf("a line of JSON cannot carry the text: %w", robotmemtest.ErrNotOffered)
	}
	if err != nil {
		return nil, &robotmem.Error{Op: "save_perception", Kind: robotmem.Invalid, Err: err}
	}
	res, err := s.c.call(s.url, "save_perception_from", json.RawMessage(request), data)
	if err != nil {
		return nil, err
	}
	out := new(robotmem.SavePerceptionResponse)
	return out, json.Unmarshal(res, out)
}

// OpenData implements robotmem.Streams.
func (s service) OpenData(_ context.Context, r *robotmem.MemoryRequest) (*robotmem.DataReader, error) {
	c := s.c.take()
	res, err := c.call(s.url, "open", r, nil)
	c.mu.Unlock()
	if err != nil {
		return nil, err
	}
	var opened struct {
		Handle    string `json:"handle"`
		MediaType string `json:"media_type"`
		Bytes     int64  `json:"bytes"`
		SHA256    string `json:"sha256"`
	}
	if err := json.Unmarshal(res, &opened); err != nil {
		return nil, err
	}
	return &robotmem.DataReader{
		ReadSeekCloser: &payload{c, s.url, opened.Handle}, MemoryID: r.MemoryID,
		MediaType: opened.MediaType, Bytes: opened.Bytes, SHA256: opened.SHA256,
	}, nil
}

// payload is a DataReader of one child.
type payload struct {
	c           *child
	url, handle string
}

func (p *payload) ask(op string, request, into any) error {
	p.c.mu.Lock()
	defer p.c.mu.Unlock()
	res, err := p.c.call(p.url, op, request, nil)
	if err != nil {
		return err
	}
	return json.Unmarshal(res, into)
}

func (p *payload) Read(b []byte) (int, error) {
	var got struct{ Data []byte }
	err := p.ask("read", map[string]any{"handle": p.handle, "size": len(b)}, &got)
	if err == nil && len(got.Data) == 0 && len(b) > 0 {
		return 0, io.EOF
	}
	return copy(b, got.Data), err
}

func (p *payload) Seek(offset int64, whence int) (int64, error) {
	var got struct{ Position int64 }
	err := p.ask("seek", map[string]any{"handle": p.handle, "offset": offset, "whence": whence}, &got)
	return got.Position, err
}

func (p *payload) Close() error {
	return p.ask("close", map[string]any{"handle": p.handle}, new(struct{}))
}
