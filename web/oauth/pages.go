package oauth

import (
	"bytes"
	_ "embed" // the pages
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"time"
)

//go:embed pages.html
var pagesHTML string

//go:embed pages.css
var pagesCSS []byte

var pages = template.Must(template.New("pages").Parse(pagesHTML))

// page is what all pages show.
type page struct {
	Title, Base   string
	Again         string // a path of this node to open next
	Client, Host  string
	Local         bool
	Login, Proof  string
	Error         string
	ReadOnly      bool
	LoginReadOnly bool
	Everywhere    bool
	Life          string
	Fields        []field
	failure
}

// field is a parameter that a form sends back.
type field struct{ Name, Value string }

func fieldsOf(values url.Values) (fields []field) {
	for _, name := range parameters {
		if values.Has(name) {
			fields = append(fields, field{name, values.Get(name)})
		}
	}

	return fields
}

// pagePolicy allows a page its style sheet and its forms, no script, and no frame around it.
const pagePolicy = "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; frame-ancestors 'none'; form-action 'self'"

// headers sets those of a page whose form may lead to a target, "" for none but this node.
func (s *Server) headers(w http.ResponseWriter, target string) {
	policy := pagePolicy
	if target != "" {
		policy += " " + target
	}

	h := w.Header()
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Frame-Options", "DENY") // for browsers without frame-ancestors
	h.Set("X-Content-Type-Options", "nosniff")
	// Not no-referrer: a form would then have no origin, and the guards of the node refuse such a form.
	h.Set("Referrer-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
}

func (s *Server) show(w http.ResponseWriter, status int, name, target string, p *page) {
	p.Base = s.o.BasePath

	var b bytes.Buffer
	if err := pages.ExecuteTemplate(&b, name, p); err != nil {
		s.log.Error("a page cannot be made", "page", name, "err", err)
		http.Error(w, "the page cannot be made", http.StatusInternalServerError)
		return
	}

	s.headers(w, target)
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	// The browser has gone if this fails.
	_, _ = w.Write(b.Bytes())
}

func (s *Server) loginPage(w http.ResponseWriter, status int, a *authorization, failure string) {
	s.show(w, status, "login", "", &page{
		Title:  "Log in to robotmem",
		Client: a.client.Name,
		Host:   hostOf(a.RedirectURI),
		Error:  failure,
		Fields: fieldsOf(a.values),
	})
}

func (s *Server) consentPage(w http.ResponseWriter, a *authorization, v Visitor) {
	u, err := parseRedirect(a.RedirectURI)
	s.show(w, http.StatusOK, "consent", formTarget(a.RedirectURI), &page{
		Title:         "Allow access to this memory?",
		Client:        a.client.Name,
		Host:          hostOf(a.RedirectURI),
		Local:         err == nil && loopback(u.Hostname()),
		Login:         v.Name,
		Proof:         s.proof(v.Session, a.values, time.Now()),
		ReadOnly:      a.readOnly || v.ReadOnly,
		LoginReadOnly: v.ReadOnly,
		Everywhere:    a.everywhere,
		Life:          spoken(s.o.RefreshLife),
		Fields:        fieldsOf(a.values),
	})
}

func spoken(d time.Duration) string {
	if days := d / (24 * time.Hour); days > 1 {
		return fmt.Sprintf("%d days", days)
	}

	return d.String()
}

// refuse shows why a request is refused.
func (s *Server) refuse(w http.ResponseWriter, status int, f *failure) {
	s.show(w, status, "failure", "", &page{Title: "The login cannot go on", Host: f.Host, failure: *f})
}

// again has the browser ask again from a page of this node.
func (s *Server) again(w http.ResponseWriter, a *authorization) {
	s.show(w, http.StatusOK, "again", "", &page{
		Title: "One moment",
		Again: s.o.BasePath + authorizePath + "?" + a.values.Encode(),
	})
}

// Style serves the style sheet of the pages.
func (s *Server) Style(w http.ResponseWriter, _ *http.Request) {
	h := w.Header()
	h.Set("Content-Type", "text/css; charset=utf-8")
	h.Set("Cache-Control", "no-cache")
	h.Set("X-Content-Type-Options", "nosniff")
	// The browser has gone if this fails.
	_, _ = w.Write(pagesCSS)
}
