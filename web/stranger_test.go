package web_test

import (
	"bufio"
	"bytes"
	"context"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/robotmem/robotmem-go/robotmem/admin"
	"github.com/robotmem/robotmem-go/web"
)

// A connection without a token whose body stops is ended much earlier than one with a
// token.
func TestStrangersDoNotHoldConnections(t *testing.T) {
	t.Parallel()
	known := &list{}
	secret := known.add("arm-7", false)
	_, url := serveNode(t, web.Options{Tokens: known.tokens, Timeout: time.Minute})
	var wg sync.WaitGroup // all wait at the same time
	defer wg.Wait()
	for name, tt := range map[string]struct {
		head string
		want int
	}{
		"no token":        {head("POST", "/api/learn", "Content-Type: application/json", "Content-Length: 1000"), 401},
		"MCP":             {head("POST", "/mcp", "Content-Length: 1000"), 401},
		"login":           {head("POST", "/login", "Content-Type: application/json", "Content-Length: 1000"), 408},
		"health":          {head("GET", "/healthz", "Content-Length: 1000"), 200},
		"the dashboard":   {head("GET", "/", "Accept: text/html", "Content-Length: 1000"), 200},
		"a foreign host":  {strings.Replace(head("GET", "/", "Content-Length: 1000"), "localhost", "evil.example", 1), 403},
		"a foreign page":  {head("POST", "/api/learn", "Origin: https://evil.example", "Content-Length: 1000"), 403},
		"an upload in it": {head("POST", "/api/perceptions", "Content-Type: multipart/form-data; boundary=x", "Content-Length: 1000"), 401},
	} {
		conn := dial(t, url, tt.head)
		wg.Go(func() {
			res, err := http.ReadResponse(bufio.NewReader(conn), nil)
			if err != nil || res.StatusCode != tt.want {
				t.Errorf("%s: got %v, %v; want status %d", name, res, err, tt.want)
			}
		})
	}
	const body = `{"insight":"the charger is behind the door"}`
	conn := dial(t, url, head("POST", "/api/learn", bearer(secret), "Content-Type: application/json", "Content-Length: 44")+body[:10])
	wg.Go(func() {
		time.Sleep(2500 * time.Millisecond)
		if _, err := conn.Write([]byte(body[10:])); err != nil {
			t.Error(err)
		}
		if res, err := http.ReadResponse(bufio.NewReader(conn), nil); err != nil || res.StatusCode != 200 {
			t.Errorf("with a token: got %v, %v", res, err)
		}
	})
}

// A page on another port of this machine is of the same site: its forms send the
// cookie, and a name and password in its address send Authorization.
func TestCookiesAreNoTokenOfAnotherOrigin(t *testing.T) {
	known := &list{}
	secret := known.add("arm-7", false)
	e, url := serveNode(t, web.Options{Tokens: known.tokens})
	cookie := loginCookie(t, url, secret)
	form := "--x\r\nContent-Disposition: form-data; name=\"description\"\r\n\r\nplanted\r\n--x\r\nContent-Disposition: form-data; name=\"data\"\r\n\r\nabc\r\n--x--\r\n"
	for _, authorization := range []string{"Basic eDp5", "x", "Bearer"} {
		res, body := askBody(t, "POST", url+"/api/perceptions", form, cookie, "Authorization: "+authorization,
			"Content-Type: multipart/form-data; boundary=x", "Origin: http://localhost:3000", "Sec-Fetch-Site: same-site")
		if res.StatusCode != 403 || total(t, e) != 0 {
			t.Errorf("%s: %s %s", authorization, res.Status, body)
		}
	}
}

// A page of another site reaches no GET, so it moves no counter of retention and holds no
// stream. A link may open the dashboard in a tab.
func TestPagesOfOtherSitesReachNoGet(t *testing.T) {
	e, url := serveNode(t, web.Options{})
	learn(t, e, "the charger is behind the door")
	for _, site := range []string{"cross-site", "same-site"} {
		for _, sent := range [][]string{
			{"Sec-Fetch-Mode: no-cors", "Sec-Fetch-Dest: image"},
			{"Sec-Fetch-Mode: cors", "Sec-Fetch-Dest: empty", "Origin: https://evil.example"},
			{"Sec-Fetch-Mode: navigate", "Sec-Fetch-Dest: iframe"},
			{"Sec-Fetch-Mode: navigate", "Sec-Fetch-Dest: document"},
		} {
			headers := with(sent, "Sec-Fetch-Site: "+site, "Accept: text/html,*/*;q=0.8")
			link := sent[1] == "Sec-Fetch-Dest: document"
			for path, opens := range map[string]bool{
				"/": true, "/search?q=charger": true, "/memory/1": true, "/api/reference": true,
				"/app.js": false, "/api/search?q=charger": false, "/api/events": false, "/api/memory/1": false, "/mcp": false,
				"/metrics": false, "/healthz": false, "/readyz": false, "/api/openapi.json": false, "/api/whoami": false, "/api/tokens": false,
			} {
				for _, method := range []string{"GET", "HEAD"} {
					want := 403
					if link && opens {
						want = 200
					}
					if res, _ := follow(t, method, url+path, "", headers...); res.StatusCode != want {
						t.Errorf("%s %s of a %s page, %s: %s", method, path, site, sent, res.Status)
					}
				}
			}
			if res, _ := askBody(t, "POST", url+"/", "", headers...); res.StatusCode != 403 {
				t.Errorf("a form to / of a %s page, %s: %s", site, sent, res.Status)
			}
		}
	}
	if stats, err := e.Stats(t.Context(), &admin.StatsRequest{}); err != nil || stats.Recalls != 0 {
		t.Errorf("%d recalls are counted, %v", stats.Recalls, err)
	}
	// Programs, the dashboard and an address that a person types.
	for _, sent := range [][]string{nil, {"Sec-Fetch-Site: same-origin"}, {"Sec-Fetch-Site: none"}, {"Origin: " + url}} {
		if res, body := askBody(t, "GET", url+"/api/search?q=charger", "", sent...); res.StatusCode != 200 {
			t.Errorf("%s: %s %s", sent, res.Status, body)
		}
	}
	if stats, err := e.Stats(t.Context(), &admin.StatsRequest{}); err != nil || stats.Recalls != 4 {
		t.Errorf("%d recalls are counted, want 4, %v", stats.Recalls, err)
	}
}

// Pages of other sites cannot embed an answer, not even as a picture.
func TestAnswersStayOnTheirOrigin(t *testing.T) {
	_, url := serveNodePayload(t)
	for _, path := range []string{"/", "/app.js", "/api/stats", "/api/memory/1/data", "/api/nope", "/mcp"} {
		if got := mustGet(t, url+path).Header.Get("Cross-Origin-Resource-Policy"); got != "same-origin" {
			t.Errorf("%s: %q", path, got)
		}
	}
}

func TestHeadIsGetWithoutABody(t *testing.T) {
	_, url := serveNode(t, web.Options{})
	for _, path := range []string{"/", "/healthz", "/readyz", "/metrics", "/api/openapi.json", "/api/reference", "/api/whoami", "/api/stats"} {
		get := mustGet(t, url+path)
		head, body := askBody(t, "HEAD", url+path, "")
		if head.StatusCode != 200 || body != "" || head.Header.Get("Content-Type") != get.Header.Get("Content-Type") {
			t.Errorf("%s: %s %v", path, head.Status, head.Header)
		}
	}
}

func TestMethodsThatNoRouteTakesAreProblems(t *testing.T) {
	h := web.NewServer(&stub{}, web.Options{MCP: http.NotFoundHandler()}).Handler
	for _, path := range []string{"/mcp", "/api/stats", "/healthz"} {
		for _, method := range []string{"PUT", "TRACE", strings.Repeat("A", 5000)} {
			res := do(h, method, path, "")
			if p := problemOf(t, res); p.Status != 405 || len(p.Detail) > 200 || res.Header.Get("Allow") == "" {
				t.Errorf("%.20s %s: %+v", method, path, p)
			}
		}
	}
}

// A request cannot add lines to the log, and its log line is short.
func TestLogLinesAreBounded(t *testing.T) {
	var log bytes.Buffer
	h := web.NewServer(&stub{}, web.Options{Logger: slog.New(slog.NewTextHandler(&log, nil))}).Handler
	do(h, strings.Repeat("A", 5000), "/x%0alevel=ERROR"+strings.Repeat("%0a", 5000), "", "X-Request-Id: a\x1bb")
	if got := log.String(); strings.Count(got, "\n") != 1 || len(got) > 2000 || strings.Contains(got, "\x1b") {
		t.Errorf("%d bytes: %.300q", len(got), got)
	}
}

// counting is a memory that records a call of Stats.
type counting struct {
	*stub
	asked bool
}

func (c *counting) Stats(ctx context.Context, r *admin.StatsRequest) (*admin.StatsResponse, error) {
	c.asked = true
	return c.stub.Stats(ctx, r)
}

func TestReadinessCostsLittle(t *testing.T) {
	c := &counting{stub: &stub{}}
	if res := do(web.NewServer(c, web.Options{}).Handler, "GET", "/readyz", ""); res.StatusCode != 200 || c.asked {
		t.Errorf("%s, and the memory counted: %t", res.Status, c.asked)
	}
}
