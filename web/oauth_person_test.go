package web_test

import (
	"html"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/local"
	"github.com/robotmem/robotmem-go/robotmem/mcp"
	"github.com/robotmem/robotmem-go/web"
	"github.com/robotmem/robotmem-go/web/oauth"
)

// grants keeps the state of an authorization server in memory.
type grants struct {
	mu    sync.Mutex
	state *oauth.State
}

func (g *grants) State() *oauth.State {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.state
}

func (g *grants) Change(f func(*oauth.State) error) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	next := g.state.Clone()
	if err := f(next); err != nil {
		return err
	}
	g.state = next
	return nil
}

// oauthNode is a node that is its own authorization server, with the tokens ada and, for reading, eve.
type oauthNode struct {
	*httptest.Server
	grants *grants
	node   *local.Node
	ada    string
	eve    string

	mu     sync.Mutex
	tokens []web.Token
	events []oauth.Event
}

func (n *oauthNode) list() []web.Token {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.tokens
}

// revoke removes a token of the node.
func (n *oauthNode) revoke(name string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	var left []web.Token
	for _, t := range n.tokens {
		if t.Name != name {
			left = append(left, t)
		}
	}
	n.tokens = left
}

func (n *oauthNode) told() []oauth.Event {
	n.mu.Lock()
	defer n.mu.Unlock()
	return append([]oauth.Event{}, n.events...)
}

func newOAuthNode(t *testing.T, o oauth.Options, more web.Options) *oauthNode {
	t.Helper()
	node, err := local.Open(t.Context(), filepath.Join(t.TempDir(), "memory.db"), local.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = node.Close() })
	n := &oauthNode{grants: &grants{state: &oauth.State{}}, node: node, ada: web.NewSecret(), eve: web.NewSecret()}
	n.tokens = []web.Token{web.NewToken("ada", n.ada, false), web.NewToken("eve", n.eve, true)}
	o.Store = n.grants
	o.Logins = func() (all []oauth.Login) {
		for _, t := range n.list() {
			all = append(all, oauth.Login{Name: t.Name, Hash: t.SHA256, ReadOnly: t.ReadOnly})
		}
		return all
	}
	o.Audit = func(e oauth.Event) {
		n.mu.Lock()
		defer n.mu.Unlock()
		n.events = append(n.events, e)
	}
	more.OAuth, more.Tokens = &o, n.list
	more.MCP = mcp.NewServer(robotmem.Node(node), mcp.Options{}).Handler()
	n.Server = httptest.NewServer(web.NewServer(node, more).Handler)
	t.Cleanup(n.Close)
	return n
}

// person is somebody at a browser, who does not follow redirects to programs.
type person struct {
	t *testing.T
	*http.Client
}

func newPerson(t *testing.T) *person {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &person{t, &http.Client{Jar: jar, Timeout: time.Minute, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
}

// reply is an answer with its body.
type reply struct {
	*http.Response
	text string
}

func (p *person) send(req *http.Request) reply {
	p.t.Helper()
	res, err := p.Do(req)
	if err != nil {
		p.t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		p.t.Fatal(err)
	}
	return reply{res, string(body)}
}

func (p *person) open(uri string) reply {
	p.t.Helper()
	req, err := http.NewRequestWithContext(p.t.Context(), http.MethodGet, uri, nil)
	if err != nil {
		p.t.Fatal(err)
	}
	req.Header.Set("Accept", "text/html")
	return p.send(req)
}

func (p *person) post(uri string, form url.Values, headers ...string) reply {
	p.t.Helper()
	req, err := http.NewRequestWithContext(p.t.Context(), http.MethodPost, uri, strings.NewReader(form.Encode()))
	if err != nil {
		p.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		req.Header.Set(name, value)
	}
	return p.send(req)
}

var (
	hiddenField = regexp.MustCompile(`<input type="hidden" name="([^"]+)" value="([^"]*)">`)
	formAction  = regexp.MustCompile(`<form method="post" action="([^"]+)">`)
)

// form reads the form of a page: where it goes, and its hidden fields.
func (r reply) form(t *testing.T) (action string, fields url.Values) {
	t.Helper()
	found := formAction.FindStringSubmatch(r.text)
	if found == nil {
		t.Fatalf("no form in the page (status %d): %s", r.StatusCode, r.text)
	}
	fields = url.Values{}
	for _, f := range hiddenField.FindAllStringSubmatch(r.text, -1) {
		fields.Set(f[1], html.UnescapeString(f[2]))
	}
	to, err := r.Request.URL.Parse(found[1])
	if err != nil {
		t.Fatal(err)
	}
	return to.String(), fields
}

// logIn opens a request for a code, logs in and returns the consent page.
func (p *person) logIn(uri, secret string) reply {
	p.t.Helper()
	page := p.open(uri)
	if !strings.Contains(page.text, `name="token"`) {
		p.t.Fatalf("no login page (status %d): %s", page.StatusCode, page.text)
	}
	action, fields := page.form(p.t)
	fields.Set("token", secret)
	res := p.post(action, fields)
	if res.StatusCode != http.StatusSeeOther {
		p.t.Fatalf("the login has status %d: %s", res.StatusCode, res.text)
	}
	next, err := res.Location()
	if err != nil {
		p.t.Fatal(err)
	}
	return p.open(next.String())
}

// decide sends the form of a consent page and returns where the browser goes.
func (p *person) decide(consent reply, decision string, rights ...string) *url.URL {
	p.t.Helper()
	action, fields := consent.form(p.t)
	fields.Set("decision", decision)
	if len(rights) > 0 {
		fields.Set("rights", rights[0])
	}
	res := p.post(action, fields)
	if res.StatusCode != http.StatusSeeOther {
		p.t.Fatalf("the decision has status %d: %s", res.StatusCode, res.text)
	}
	to, err := res.Location()
	if err != nil {
		p.t.Fatal(err)
	}
	return to
}

// allow lets a program have what it asks for.
func (p *person) allow(uri, secret string) *url.URL {
	p.t.Helper()
	return p.decide(p.logIn(uri, secret), "allow", "write")
}
