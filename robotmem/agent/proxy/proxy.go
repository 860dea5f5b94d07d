// Package proxy stands between a chat client and its language model and lets the model remember. It speaks the chat API of
// OpenAI: POST /v1/chat/completions recalls for the last message of the user and puts what fits before it, as data; all else
// passes through unchanged.
//
//	client -> Proxy -> recall: the conversation, and the memory as a whole
//	             |---> learn: the user's turn, at once
//	             v
//	          upstream -> answer, with memory_hits -> client
//	                         |---> learn: the assistant's turn, when it ends or breaks
//
// A memory that is slow or unwell never stops the chat: the request goes on without it, and a header says so.
package proxy

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"mime"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/outgoing"
)

// Options of a Proxy.
type Options struct {
	Node     robotmem.Service
	Upstream *url.URL // with /v1, such as http://localhost:11434/v1

	// Collection holds the turns of conversations, Global what is recalled in every conversation. They may be the same.
	Collection, Global string

	// The usual values of memory_top_k, memory_recency_weight and memory_score_threshold. A threshold of 0 takes what fits
	// by the judgement of the hooks.
	TopK      int
	Recency   float64
	Threshold float64
	// MaxTurns is the most turns of a conversation that stay active; the oldest are forgotten and can be restored.
	MaxTurns int

	// Token is what requests have to carry in the header X-Robotmem-Token; "" for none.
	Token string
	// Hosts are names by which clients may call this proxy, beside loopback addresses.
	Hosts []string

	// After is called with each turn of a user that is stored, and summarises conversations; nil does neither.
	After After

	HTTP *http.Client // nil for one of its own
	Log  *slog.Logger
}

// After adds to the memory what a language model reads in a conversation.
type After interface {
	// Turn extracts facts from a stored turn of the user.
	Turn(ctx context.Context, t *Turn)
	// Summarise writes the running summary of a conversation.
	Summarise(ctx context.Context, collection, conversation string)
}

// Turn is a stored turn.
type Turn struct {
	Collection, Conversation string
	MemoryID                 int64
	UID                      string
	Text                     string
}

// Usual values of Options.
const (
	DefaultCollection = "chat"
	DefaultTopK       = 5
	DefaultRecency    = 0.2
	DefaultMaxTurns   = 500
)

const (
	maxRequest = 20 << 20 // bytes
	maxAnswer  = 32 << 20 // bytes of an answer that is not streamed

	// memoryTime is how long a request waits for the memory. storeTime bounds the storing of an answer.
	memoryTime = 400 * time.Millisecond
	storeTime  = 10 * time.Second

	waiting = 256 // turns that wait for the language model
)

// Proxy is the handler. Close it to wait for what is being stored.
type Proxy struct {
	o     Options
	http  *http.Client
	pass  *httputil.ReverseProxy
	state counters

	storing sync.WaitGroup
	queue   chan func(context.Context)
	stop    context.CancelFunc
	working sync.WaitGroup
}

// New returns a proxy.
func New(o Options) *Proxy {
	p := &Proxy{o: o, http: outgoing.Client(o.HTTP), queue: make(chan func(context.Context), waiting)}
	if p.o.Log == nil {
		p.o.Log = slog.New(slog.DiscardHandler)
	}

	p.pass = &httputil.ReverseProxy{
		Transport:     p.http.Transport,
		FlushInterval: -1,
		Rewrite: func(r *httputil.ProxyRequest) {
			r.Out.URL = p.target(r.In.URL)
			r.Out.Host = ""
			r.Out.Header.Del(tokenHeader)
		},
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, err error) { p.unreachable(w, err) },
		ErrorLog:     slog.NewLogLogger(p.o.Log.Handler(), slog.LevelWarn),
	}

	ctx, cancel := context.WithCancel(context.Background())
	p.stop = cancel
	p.working.Go(func() {
		for work := range p.queue {
			if ctx.Err() == nil {
				work(ctx)
			} else {
				p.state.skipped.Add(1)
			}
		}
	})

	return p
}

// Close waits for turns that are being stored. What the language model has not read by then is not read.
func (p *Proxy) Close() error {
	p.storing.Wait()
	p.stop()
	close(p.queue)
	p.working.Wait()
	p.http.CloseIdleConnections()

	return nil
}

const tokenHeader = "X-Robotmem-Token"

// ServeHTTP implements http.Handler.
func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !p.knows(r.Host) {
		fail(w, http.StatusForbidden, "this proxy is not known by the name "+robotmem.Clip(robotmem.Visible(r.Host), 100)+
			"; --allow-host allows it")
		return
	}
	if p.o.Token != "" && subtle.ConstantTimeCompare([]byte(r.Header.Get(tokenHeader)), []byte(p.o.Token)) != 1 {
		fail(w, http.StatusUnauthorized, "send the token of this proxy in the header "+tokenHeader)
		return
	}

	// A page in a browser of this machine must not reach the upstream or the memory through us.
	if r.Header.Get("Origin") != "" && r.Method != http.MethodGet && r.Method != http.MethodHead {
		fail(w, http.StatusForbidden, "pages in a browser may not use this proxy")
		return
	}

	switch {
	case r.URL.Path == "/health":
		p.health(w, r)
	case r.URL.Path == "/v1/chat/completions" && r.Method == http.MethodPost:
		p.chat(w, r)
	default:
		p.pass.ServeHTTP(w, r)
	}
}

// knows reports whether a request may name this host: others are pages whose name leads to this machine.
func (p *Proxy) knows(hostport string) bool {
	host, _, err := net.SplitHostPort(hostport)
	if err != nil {
		host = strings.Trim(hostport, "[]")
	}

	return outgoing.ThisMachine(host) ||
		slices.ContainsFunc(p.o.Hosts, func(h string) bool { return strings.EqualFold(h, host) })
}

// target is the address upstream of a path here: below /v1 that of the API, beside it that of the server. What is escaped
// in a path stays so.
func (p *Proxy) target(in *url.URL) *url.URL {
	out := *p.o.Upstream
	out.RawQuery = in.RawQuery

	base, path := strings.TrimSuffix(out.EscapedPath(), "/"), in.EscapedPath()
	if rest, ok := strings.CutPrefix(path, "/v1"); ok && (rest == "" || rest[0] == '/') {
		path = base + rest
	} else {
		path = strings.TrimSuffix(base, "/v1") + path
	}

	out.RawPath = path
	if plain, err := url.PathUnescape(path); err == nil {
		out.Path = plain
	}

	return &out
}

// chat answers a chat with what the memory knows.
func (p *Proxy) chat(w http.ResponseWriter, r *http.Request) {
	if kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")); kind != "application/json" {
		// A page in a browser may send other types to this machine without being asked.
		fail(w, http.StatusUnsupportedMediaType, "send the request as application/json")
		return
	}

	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxRequest))
	if err != nil {
		if large := (*http.MaxBytesError)(nil); errors.As(err, &large) {
			fail(w, http.StatusRequestEntityTooLarge, fmt.Sprintf("the request is larger than %d MiB", maxRequest>>20))
		}
		return // else the client is gone
	}

	q, err := read(body)
	if err != nil {
		fail(w, http.StatusBadRequest, err.Error())
		return
	}

	c := &call{Proxy: p, question: q}
	c.remember(r.Context())

	sent, err := q.body(c.injected)
	if err != nil {
		fail(w, http.StatusBadRequest, err.Error())
		return
	}

	res, err := p.ask(r, sent)
	if err != nil {
		p.unreachable(w, err)
		return
	}
	defer res.Body.Close()

	c.answer(w, r, res)
}

// ask sends the request upstream with the headers of the client.
func (p *Proxy) ask(r *http.Request, body []byte) (*http.Response, error) {
	req, err := http.NewRequestWithContext(r.Context(), http.MethodPost, p.target(r.URL).String(), bytes.NewReader(body))
	if err != nil {
		return nil, err
	}

	req.Header = r.Header.Clone()
	// Those of the connection, and what would compress an answer that has to be read here.
	for _, name := range []string{
		"Connection", "Keep-Alive", "Proxy-Connection", "Proxy-Authorization", "Te", "Trailer", "Transfer-Encoding", "Upgrade",
		"Accept-Encoding", "Content-Length", tokenHeader,
	} {
		req.Header.Del(name)
	}

	return p.http.Do(req)
}

func (p *Proxy) unreachable(w http.ResponseWriter, err error) {
	if errors.Is(err, context.Canceled) {
		return // the client is gone
	}

	p.state.unreachable.Add(1)
	p.o.Log.Warn("the upstream cannot be reached", "upstream", outgoing.Origin(p.o.Upstream), "error", err)
	fail(w, http.StatusBadGateway, "the language model at "+outgoing.Origin(p.o.Upstream)+" cannot be reached; is it running?")
}

// fail answers as the API of OpenAI does, so that its clients show the text.
func fail(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(errorJSON(text))
}

func errorJSON(text string) []byte {
	data, _ := json.Marshal(map[string]any{"error": map[string]any{"message": "robotmem: " + text, "type": "robotmem_error", "code": nil}})
	return data
}

// requestID names a call by its contents, so that a client that repeats it stores it once.
func requestID(parts ...[]byte) string {
	sum := sha256.New()
	for _, part := range parts {
		_, _ = fmt.Fprintf(sum, "%d:", len(part))
		_, _ = sum.Write(part)
	}

	return "chat-" + hex.EncodeToString(sum.Sum(nil)[:16])
}
