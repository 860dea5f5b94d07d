package web

import (
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"io"
	"net"
	"net/http"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"github.com/labstack/echo/v4"

	"github.com/robotmem/robotmem-go/robotmem"
)

const (
	sessionLife = 24 * time.Hour
	maxSessions = 10_000  // a new login ends the oldest one
	maxOfToken  = 100     // logins of one token, of which a new one ends the oldest
	maxLogin    = 4 << 10 // bytes of a request
)

// logins holds the browsers that have logged in with a token, by the hash of their
// cookie. A browser sends a cookie to every port of its host, also to other programs,
// so the cookie holds a random value of this process and not the token. The token is
// looked up for each request, so revoking it ends the login.
type logins struct {
	*lru.Cache[[sha256.Size]byte, login]
}

type login struct {
	token [sha256.Size]byte // its hash
	until time.Time
}

func newLogins() logins {
	// Fails only for a size below 1.
	cache, _ := lru.New[[sha256.Size]byte, login](maxSessions)
	return logins{cache}
}

func (l logins) add(token [sha256.Size]byte) string {
	var own [][sha256.Size]byte // the oldest first

	for _, cookie := range l.Keys() {
		if have, ok := l.Peek(cookie); ok && have.token == token {
			own = append(own, cookie)
		}
	}

	for len(own) >= maxOfToken {
		l.Remove(own[0])
		own = own[1:]
	}

	value := rand.Text() + rand.Text()
	l.Add(sha256.Sum256([]byte(value)), login{token, time.Now().Add(sessionLife)})

	return value
}

// hash returns the hash of the token of a login. It does not count as a use of the
// cache, so that the oldest login is the first to end.
func (l logins) hash(cookie string) (token [sha256.Size]byte, ok bool) {
	have, ok := l.Peek(sha256.Sum256([]byte(cookie)))
	return have.token, ok && time.Now().Before(have.until)
}

// cookieName contains the port, so that two nodes on one machine have separate logins.
func cookieName(r *http.Request) string {
	name := "robotmem"
	if _, port, err := net.SplitHostPort(r.Host); err == nil {
		name += "-" + port
	}
	return name
}

func (s *server) setCookie(w http.ResponseWriter, r *http.Request, value string, life time.Duration) {
	http.SetCookie(w, &http.Cookie{
		Name: cookieName(r), Value: value, Path: "/", MaxAge: int(life.Seconds()),
		HttpOnly: true, SameSite: http.SameSiteStrictMode, Secure: secured(r),
	})
}

// secured reports whether the client sees https. A TLS proxy sets X-Forwarded-Proto. A client that
// forges it affects only its own cookie and answer.
func secured(r *http.Request) bool {
	return r.TLS != nil || r.Header.Get("X-Forwarded-Proto") == "https"
}

type whoami struct {
	Name        string `json:"name"`
	ReadOnly    bool   `json:"read_only"`
	Required    bool   `json:"required"`
	Version     string `json:"version,omitempty"`
	Tenant      string `json:"tenant,omitempty"`
	Role        string `json:"role,omitempty"`
	Robot       string `json:"robot,omitempty"`
	Collections string `json:"collections,omitempty"`
}

func (s *server) answerWho(c echo.Context, t Token) error {
	_, required := s.tokens()
	c.Response().Header().Set("Cache-Control", "no-store")
	return writeJSON(c, whoami{t.Name, t.ReadOnly, required, s.opts.Version, t.Tenant, t.Role, t.Robot, t.Collections})
}

// login checks a token and sets the cookie of the dashboard.
func (s *server) login(c echo.Context) error {
	r := c.Request()

	var req struct {
		Token string `json:"token"`
	}
	op := &robotmem.Op{Name: "login"}
	if err := tokenBody(c, op, "token", &req); err != nil {
		return err
	}
	if req.Token == "" {
		return invalid(op, "token", errors.New(`is required; send {"token":"…"}`))
	}

	list, _ := s.tokens()
	token, err := s.check(r, list, req.Token)
	if err != nil {
		s.refuseToken(c.Response(), r, err)
		return nil
	}

	if token.access != nil {
		return &robotmem.Error{Op: op.Name, Kind: robotmem.Forbidden, Err: errGrantLogin}
	}

	exchangeOf(r).token = token
	if err := s.tenantRate(r.Context(), token.Tenant); err != nil {
		return err
	}

	// A browser has one login. The old cookie would else stay valid for a day without an owner.
	s.endLogin(r)
	s.setCookie(c.Response(), r, s.sessions.add(token.SHA256), sessionLife)

	return s.answerWho(c, token)
}

// tokenBody decodes the JSON body of a request about a token. field is named if the body is too long.
func tokenBody(c echo.Context, op *robotmem.Op, field string, into any) error {
	if err := jsonBody(c.Request(), op); err != nil {
		return err
	}
	body, err := io.ReadAll(http.MaxBytesReader(c.Response(), c.Request().Body, maxLogin))
	if errors.As(err, new(*http.MaxBytesError)) {
		return &robotmem.Error{Op: op.Name, Kind: robotmem.TooLarge, Field: field, Err: errors.New("is too long")}
	}
	if err != nil {
		return invalid(op, "", err)
	}

	// Other operations accept other spellings with a note. A field that gives access must be spelt exactly.
	notes, err := op.Decode(c.Request().Context(), nil, body, into)
	if err == nil && len(notes) > 0 {
		err = invalid(op, "", errors.New(notes[0]+"; spell it so"))
	}

	return err
}

func (s *server) logout(c echo.Context) error {
	s.endLogin(c.Request())
	s.setCookie(c.Response(), c.Request(), "", -time.Second)
	return c.NoContent(http.StatusNoContent)
}

func (s *server) endLogin(r *http.Request) {
	if cookie, err := r.Cookie(cookieName(r)); err == nil {
		s.sessions.Remove(sha256.Sum256([]byte(cookie.Value)))
	}
}

func (s *server) whoami(c echo.Context) error { return s.answerWho(c, exchangeOf(c.Request()).token) }
