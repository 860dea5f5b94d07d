package web

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"html/template"
	"net/http"
	"strings"
	"sync"

	"github.com/labstack/echo/v4"
)

// The reference is a page made from the OpenAPI document: one file and its style
// sheet, without a script, so that it reads the same on a robot without a
// network.

//go:embed reference/page.html
var referenceHTML string

//go:embed reference/style.css
var referenceCSS []byte

// referencePolicy lets the page load its style sheet and nothing else.
const referencePolicy = "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// addReference serves the page. It is made when it is first asked for.
func addReference(e *echo.Echo, version string) {
	page := sync.OnceValues(func() ([]byte, error) { return referencePage(version) })
	get(e, "/api/reference", func(c echo.Context) error {
		html, err := page()
		if err != nil {
			return err
		}
		c.Response().Header().Set("Content-Security-Policy", referencePolicy)
		c.Response().Header().Set("X-Content-Type-Options", "nosniff")
		return c.Blob(http.StatusOK, "text/html; charset=utf-8", html)
	})
	get(e, "/api/reference.css", func(c echo.Context) error {
		c.Response().Header().Set("X-Content-Type-Options", "nosniff")
		return c.Blob(http.StatusOK, "text/css; charset=utf-8", referenceCSS)
	})
}

func referencePage(version string) ([]byte, error) {
	doc, err := readDocument(openAPI(version))
	if err != nil {
		return nil, err
	}
	t, err := template.New("page").Funcs(template.FuncMap{"prose": prose, "lower": strings.ToLower}).Parse(referenceHTML)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = t.Execute(&b, newReference(doc))
	return b.Bytes(), err
}

// document is what the page reads of the OpenAPI document.
type document struct {
	Info struct{ Version, Description string }
	Tags []struct{ Name, Description string }
	// Paths hold an operation for each method, in lower case.
	Paths      map[string]map[string]operationDoc
	Components struct {
		Schemas   map[string]*schemaDoc
		Responses map[string]struct{ Description string }
	}
}

type operationDoc struct {
	OperationID, Summary, Description string
	Tags                              []string
	Parameters                        []parameterDoc
	RequestBody                       struct{ Content map[string]mediaDoc }
	Responses                         map[string]struct {
		Ref         string `json:"$ref"`
		Description string
		Content     map[string]mediaDoc
	}
}

type parameterDoc struct {
	In, Name, Description string
	Required              bool
	Schema                *schemaDoc
	Example               any
}

type mediaDoc struct {
	Schema  *schemaDoc
	Example json.RawMessage
}

type schemaDoc struct {
	Ref                  string `json:"$ref"`
	Type                 string
	Format               string
	Description          string
	Enum                 []string
	Default              any
	Properties           map[string]*schemaDoc
	Required             []string
	Items                *schemaDoc
	AnyOf                []*schemaDoc
	AdditionalProperties any
	ContentEncoding      string
	Minimum, Maximum     *json.Number
	MinLength, MaxLength *json.Number
	MinItems, MaxItems   *json.Number
}

func readDocument(from any) (*document, error) {
	data, err := encode(from)
	if err != nil {
		return nil, err
	}
	doc := new(document)
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	return doc, dec.Decode(doc)
}

// prose is text with its `code` marked.
func prose(text string) template.HTML {
	var b strings.Builder
	for i, part := range strings.Split(text, "`") {
		escaped := template.HTMLEscapeString(part)
		if i%2 == 1 {
			escaped = "<code>" + escaped + "</code>"
		}
		b.WriteString(escaped)
	}
	return template.HTML(b.String())
}
