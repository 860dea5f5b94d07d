package web

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/labstack/echo/v4"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/admin"
)

// Importer imports recordings that are sent to the node. Its errors are *robotmem.Error.
type Importer interface {
	// Receive takes the files of a recording and returns when all of them are on the disk; the import runs after
	// that. It must hold none of them in memory.
	Receive(ctx context.Context, r *admin.ImportRequest, in admin.ImportFiles) (*admin.Import, error)
	// Imports returns the imports of this process, the newest first and without results.
	Imports(ctx context.Context) (*admin.Imports, error)
	Import(ctx context.Context, id string) (*admin.Import, error)
	// Cancel ends an import, or the receiving of its files. What it has stored stays.
	Cancel(ctx context.Context, id string) (*admin.Import, error)
}

// importOp is the operation of the route that receives a recording. Without Hints.ReadOnly it requires the right to
// write.
var importOp = &robotmem.Op{Name: "import_recording"}

func (s *server) addImports(e *echo.Echo) {
	reading := func(name string) *robotmem.Op {
		return &robotmem.Op{Name: name, Hints: robotmem.Hints{ReadOnly: true}}
	}
	e.POST("/api/imports", requireRight(importOp, s.receiveImport))
	get(e, "/api/imports", requireRight(reading("imports"), s.listImports))
	get(e, "/api/imports/:import_id", requireRight(reading("import_status"), s.importStatus))
	e.DELETE("/api/imports/:import_id", requireRight(&robotmem.Op{Name: "cancel_import"}, s.cancelImport))
}

// receiveImport streams a recording to the disk: the body as one file, or the parts of a form with file names.
func (s *server) receiveImport(c echo.Context) error {
	r := c.Request()
	values, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return invalid(importOp, "", fmt.Errorf("the query string cannot be read: %s", err))
	}
	req, in, err := importRequest(values)
	if err != nil {
		return err
	}

	mediaType, params, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	switch {
	case err == nil && mediaType == "multipart/form-data":
		if params["boundary"] == "" {
			return invalid(importOp, "Content-Type", errors.New("names no boundary; send multipart/form-data; boundary=…, as libraries for forms do"))
		}
		in.Next = formFiles(multipart.NewReader(r.Body, params["boundary"]))
	case in.Folder:
		return invalid(importOp, "folder", errors.New("needs a form with the files of the folder as parts; a body alone is one file"))
	default:
		in.Next = oneFile(in.Name, r.Body)
	}

	// The import runs on after this request. It ends if the token of the request does.
	in.Size = r.ContentLength
	later := r.WithContext(context.WithoutCancel(r.Context()))
	in.Allowed = func() bool { return s.stillAuthorized(later) }
	out, err := s.opts.Imports.Receive(r.Context(), req, in)
	if err != nil {
		return robotmem.Wrap(importOp.Name, err)
	}

	c.Response().Header().Set("Location", path.Join("/api/imports", out.ID))
	c.Response().Header().Set(echo.HeaderContentType, echo.MIMEApplicationJSON)
	c.Response().WriteHeader(http.StatusAccepted)
	data, err := encode(out)
	if err != nil {
		return err
	}
	_, err = c.Response().Write(data)

	return err
}

// The lengths of fields, in bytes.
const (
	maxImportField = 256
	maxImportGlobs = 100
)

// importFields are the fields of an import in the query.
var importFields = []string{"name", "folder", "collection", "robot", "map_id", "namespace", "topic", "exclude", "no_events"}

// importRequest reads the query.
func importRequest(values url.Values) (*admin.ImportRequest, admin.ImportFiles, error) {
	in := admin.ImportFiles{}

	for name, all := range values {
		if !slices.Contains(importFields, name) {
			return nil, in, invalid(importOp, name, fmt.Errorf("is not known here; the fields are %s", strings.Join(importFields, ", ")))
		}
		if len(all) > 1 && name != "topic" && name != "exclude" {
			return nil, in, invalid(importOp, name, errors.New("is given more than once"))
		}
		if len(all) > maxImportGlobs {
			return nil, in, invalid(importOp, name, fmt.Errorf("is given more than %d times", maxImportGlobs))
		}

		for _, v := range all {
			if len(v) > maxImportField || !utf8.ValidString(v) {
				return nil, in, invalid(importOp, name, fmt.Errorf("must be valid UTF-8 of up to %d bytes", maxImportField))
			}
		}
	}

	req := &admin.ImportRequest{
		Collection: values.Get("collection"), Robot: values.Get("robot"), MapID: values.Get("map_id"), Namespace: values.Get("namespace"),
		Topics: values["topic"], Exclude: values["exclude"],
	}
	// The collection is checked as that of a fact is, before the recording is sent.
	if req.Collection != "" {
		if err := robotmem.Validate("import_recording", &robotmem.StartSessionRequest{Collection: req.Collection}); err != nil {
			return nil, in, err
		}
	}

	for name, to := range map[string]*bool{"folder": &in.Folder, "no_events": &req.NoEvents} {
		if text := values.Get(name); text != "" {
			on, err := strconv.ParseBool(text)
			if err != nil {
				return nil, in, invalid(importOp, name, fmt.Errorf("must be true or false, not %.20q", text))
			}
			*to = on
		}
	}
	if in.Name = values.Get("name"); in.Name == "" {
		return nil, in, invalid(importOp, "name", errors.New("is required: the name of the file or folder, such as drive.mcap"))
	}

	return req, in, nil
}

// oneFile returns a body as the only file.
func oneFile(name string, body io.Reader) func() (string, io.Reader, error) {
	done := false

	return func() (string, io.Reader, error) {
		if done {
			return "", nil, io.EOF
		}
		done = true

		return name, body, nil
	}
}

// formFiles returns the parts of a form. A form has no other fields: these are in the query.
func formFiles(form *multipart.Reader) func() (string, io.Reader, error) {
	return func() (string, io.Reader, error) {
		part, err := form.NextRawPart()
		if err == io.EOF {
			return "", nil, io.EOF
		}
		if err != nil {
			return "", nil, invalid(importOp, "file", fmt.Errorf("reading the form: %w; nothing was stored", err))
		}
		// FileName would cut off a folder, and two files of one name would be one.
		_, params, err := mime.ParseMediaType(part.Header.Get("Content-Disposition"))
		if err != nil || params["filename"] == "" {
			return "", nil, invalid(importOp, "file", fmt.Errorf("the part %.50q of the form has no file name; other fields stand in the query", part.FormName()))
		}

		return params["filename"], part, nil
	}
}

func (s *server) listImports(c echo.Context) error {
	all, err := s.opts.Imports.Imports(c.Request().Context())
	return answer(c, all, robotmem.Wrap("imports", err))
}

func (s *server) importStatus(c echo.Context) error {
	out, err := s.opts.Imports.Import(c.Request().Context(), c.Param("import_id"))
	return answer(c, out, robotmem.Wrap("import_status", err))
}

func (s *server) cancelImport(c echo.Context) error {
	out, err := s.opts.Imports.Cancel(c.Request().Context(), c.Param("import_id"))
	return answer(c, out, robotmem.Wrap("cancel_import", err))
}
