package oauth

import (
	"crypto/rand"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/go-oauth2/oauth2/v4/server"
	"golang.org/x/time/rate"
)

// Options configure a Server. Store, Logins, Base, Visitor and LogIn are required.
type Options struct {
	Store Store
	// Logins returns the tokens with which a person may log in and consent now. A grant of another one has ended.
	Logins func() []Login
	// Base returns the URL of this node as the client of a request names it, without a slash at its end. It is the
	// issuer.
	Base func(*http.Request) string
	// BasePath is the path of Base, "" for the root.
	BasePath string
	// Visitor returns who is logged in with the browser of a request.
	Visitor func(*http.Request) (v Visitor, ok bool)
	// LogIn logs the browser of a request in with the secret of a token, and sets its cookie. Its error is shown.
	LogIn func(w http.ResponseWriter, r *http.Request, secret string) error
	// Address returns whose registrations are counted together; RemoteAddr if nil.
	Address func(*http.Request) string
	// Logger receives what happens to clients and grants; nil is silent.
	Logger *slog.Logger
	// Audit is told of each grant that is made or ends by itself. It may be nil.
	Audit func(Event)

	// AccessLife is how long an access token is valid, ten minutes if 0; RefreshLife how long a grant lives
	// that is not refreshed, 30 days if 0.
	AccessLife, RefreshLife time.Duration
}

// Login is a token of the token commands.
type Login struct {
	Name     string
	Hash     Hash
	ReadOnly bool
}

func loginOf(logins []Login, hash Hash) (Login, bool) {
	for _, l := range logins {
		if l.Hash.is(hash) {
			return l, true
		}
	}

	return Login{}, false
}

// Visitor is a person at a browser.
type Visitor struct {
	Login
	// Session is the secret of the browser's login, which the forms are bound to.
	Session string
}

// Store keeps the state.
type Store interface {
	// State returns the present state, which must not be changed.
	State() *State
	// Change calls f with a copy of the present state, and stores it before it returns, unless f fails. Changes of all
	// processes are made one after the other.
	Change(f func(*State) error) error
}

// Event is a change of a grant.
type Event struct {
	// Made is false if the grant has ended.
	Made  bool
	Grant Grant
	Why   string
}

const (
	codeLife    = time.Minute
	consentLife = 15 * time.Minute // of the form of the consent page
	maxCodes    = 1000
	// Parameters of an authorization request: all together, and one of them.
	maxQuery = 8 << 10
	maxState = 2 << 10
	// Registrations: of all clients, and of one address. One address cannot use up those of all, and all together do not
	// fill the list within freshLife.
	registerPause, registerBurst = 8 * time.Second, 30
	addressPause, addressBurst   = 15 * time.Second, 10
	// Refreshes of one grant: each waits for the disk.
	refreshPause, refreshBurst     = 5 * time.Second, 20
	maxRegistration, maxForm       = 16 << 10, 16 << 10
	maxName, maxRedirects          = 100, 10
	retryRegistration              = "60" // seconds
	scopeRead, scopeWrite          = "memory:read", "memory:write"
	accessPrefix, refreshPrefix    = "rma_", "rmr_"
	codePrefix, clientPrefix       = "rmc_", "rmcl_"
	secretBytes, familyBytes       = 32, 16
	defaultAccess, defaultLifetime = 10 * time.Minute, 30 * 24 * time.Hour
	grantIDLength                  = 10 // base32
	// runningGrace is how long a request may go on after its access token expired.
	runningGrace = time.Minute
)

// Scopes lists the scopes that a client can ask for.
func Scopes() []string { return []string{scopeRead, scopeWrite} }

// Server is the authorization server of a node.
type Server struct {
	o        Options
	log      *slog.Logger
	protocol *server.Server
	formKey  []byte // of this process
	register *rate.Limiter
	each     *paces // of registrations, by address
	refresh  *paces // of refreshes, by family

	mu    sync.Mutex // guards what follows, and orders requests for codes and tokens
	codes map[Hash]*issued
}

// New returns the authorization server of a node.
func New(o Options) *Server {
	s := &Server{
		o:        o,
		log:      o.Logger,
		formKey:  random(secretBytes),
		register: rate.NewLimiter(rate.Every(registerPause), registerBurst),
		each:     newPaces(addressPause, addressBurst),
		refresh:  newPaces(refreshPause, refreshBurst),
		codes:    map[Hash]*issued{},
	}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	if s.o.Address == nil {
		s.o.Address = func(r *http.Request) string { return r.RemoteAddr }
	}
	if s.o.AccessLife == 0 {
		s.o.AccessLife = defaultAccess
	}
	if s.o.RefreshLife == 0 {
		s.o.RefreshLife = defaultLifetime
	}
	s.protocol = s.newProtocol()

	return s
}

func random(n int) []byte {
	b := make([]byte, n)
	_, _ = rand.Read(b) // never fails

	return b
}

// Access is what an access token gives.
type Access struct {
	Grant      string // its ID
	Login      Login
	ReadOnly   bool
	Everywhere bool // not only the MCP endpoint
	Until      time.Time
}

// IsAccess reports whether a secret has the form of an access token of this package.
func IsAccess(secret string) bool { return strings.HasPrefix(secret, accessPrefix) }

// Access returns what an access token gives now; ok is false if it is not valid.
func (s *Server) Access(secret string) (a Access, ok bool) {
	hash := HashOf(secret)
	g := s.o.Store.State().grant(func(g *Grant) bool { return g.Access.is(hash) })
	if g == nil || !time.Now().Before(g.AccessUntil) {
		return Access{}, false
	}

	return s.accessOf(g)
}

// accessOf returns what a grant gives: never more than its login may now.
func (s *Server) accessOf(g *Grant) (a Access, ok bool) {
	login, ok := loginOf(s.o.Logins(), g.Login)
	if !ok || time.Now().After(g.Until) {
		return Access{}, false
	}

	return Access{
		Grant:      g.ID,
		Login:      login,
		ReadOnly:   g.AccessReadOnly || g.ReadOnly || login.ReadOnly,
		Everywhere: g.Everywhere,
		Until:      g.AccessUntil,
	}, true
}

// Continues reports whether a request that was accepted with a may go on: its grant lives, and its access token expired
// at most a minute ago. The token may have been replaced meanwhile.
func (s *Server) Continues(a Access) bool {
	g := s.o.Store.State().grantByID(a.Grant)
	if g == nil || time.Now().After(a.Until.Add(runningGrace)) {
		return false
	}
	now, ok := s.accessOf(g)

	return ok && (a.ReadOnly || !now.Login.ReadOnly)
}

// tell notes a grant that was made or has ended. Its caller does not hold mu: Audit may wait for the disk.
func (s *Server) tell(made bool, g Grant, why string) {
	s.log.Info("grant", "made", made, "id", g.ID, "client", g.ClientName, "login", g.LoginName, "why", why)
	if s.o.Audit != nil {
		s.o.Audit(Event{Made: made, Grant: g, Why: why})
	}
}

// once returns the only value of each parameter, and the name of one that is given twice (RFC 6749, 3.1 and 3.2).
func once(values url.Values) (twice string) {
	for name, v := range values {
		if len(v) > 1 {
			return name
		}
	}

	return ""
}
