package web

import (
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"mime"
	"net/http"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/admin"
)

// data answers the bytes of a perception, also in ranges, or the JSON response if the
// Accept header names application/json.
func (s *server) data(op *robotmem.Op) echo.HandlerFunc {
	asJSON := s.operation(op)

	return func(c echo.Context) error {
		if accepts(c.Request(), "application/json") {
			return asJSON(c)
		}

		raw, err := s.request(c, op)
		if err != nil {
			return err
		}

		req := &robotmem.MemoryRequest{}
		if _, err := op.Decode(c.Request().Context(), nil, raw, req); err != nil {
			return err
		}

		payload, err := s.svc.OpenData(c.Request().Context(), req)
		if err != nil {
			return err
		}

		defer payload.Close()

		// The bytes come from any client. A type that could run scripts in a browser is downloaded, not shown.
		mediaType := payloadHeaders(c, payload.MediaType, payload.SHA256)
		if !shownInline(mediaType) {
			c.Response().Header().Set("Content-Disposition",
				fmt.Sprintf(`attachment; filename="memory-%s"`,
					robotmem.MemoryName(req.MemoryID, req.UID)))
		}

		s.content(c, loggedPayload{payload, s.log}, payload.Bytes)

		return nil
	}
}

// content answers bytes, also in ranges. A request that http.ServeContent refuses gets a
// problem document.
func (s *server) content(c echo.Context, body io.ReadSeeker, size int64) {
	r := c.Request()

	// No range is within zero bytes, so such a request gets all of them. ServeContent would answer "bytes=-0" with an
	// invalid Content-Range. A range behind the end is refused instead.
	if size == 0 {
		r.Header.Del("Range")
	} else if r.Header.Get("Range") == "bytes=-0" {
		r.Header.Set("Range", fmt.Sprintf("bytes=%d-", size))
	}

	w := &refusalWriter{ResponseWriter: c.Response()}
	http.ServeContent(w, r, "", time.Time{}, body)
	if w.refused == 0 {
		return
	}

	p := newProblem(w.refused, robotmem.Internal, internalDetail)
	switch w.refused {
	case http.StatusRequestedRangeNotSatisfiable:
		w.Header().Set("Content-Range", fmt.Sprintf("bytes */%d", size))
		detail := fmt.Sprintf("%.100q has none of the %d bytes; use a range such as bytes=0-1023 or bytes=-100",
			r.Header.Get("Range"), size)
		p = newProblem(w.refused, robotmem.Invalid, detail)
		p.Field = "Range"
	case http.StatusPreconditionFailed:
		p = newProblem(w.refused, robotmem.Conflict, "If-Match names other bytes; the ETag header has the current tag")
		p.Field = "If-Match"
	}

	// The problem document is not the file, and a browser should show it.
	w.Header().Del("Content-Disposition")
	s.writeProblem(c.Response(), r, p)
}

// refusalWriter holds back the answer with which http.ServeContent refuses a request, which
// is not a problem document.
type refusalWriter struct {
	http.ResponseWriter
	refused int // the status, 0 if the request was not refused
}

func (w *refusalWriter) WriteHeader(code int) {
	if code >= http.StatusBadRequest {
		w.refused = code
		return
	}
	w.ResponseWriter.WriteHeader(code)
}

func (w *refusalWriter) Write(p []byte) (int, error) {
	if w.refused != 0 {
		return len(p), nil
	}
	return w.ResponseWriter.Write(p)
}

// loggedPayload logs an error of reading a payload. The answer has begun by then, so the
// client only sees that it ends too early.
type loggedPayload struct {
	*robotmem.DataReader
	log *slog.Logger
}

func (w loggedPayload) Read(p []byte) (int, error) {
	n, err := w.DataReader.Read(p)
	if err != nil && err != io.EOF {
		w.log.Error("payload sent incompletely", "memory_id", w.MemoryID, "sha256", w.SHA256, "err", err)
	}
	return n, err
}

// preview answers the picture of a perception, or the JSON response if the Accept
// header names application/json.
func (s *server) preview(op *robotmem.Op) echo.HandlerFunc {
	return func(c echo.Context) error {
		request, err := s.request(c, op)
		if err != nil {
			return err
		}

		res, err := op.Call(c.Request().Context(), s.svc, request)
		if err != nil {
			return err
		}

		picture, ok := res.(*admin.PreviewResponse)
		if !ok || accepts(c.Request(), "application/json") {
			return writeJSON(c, res)
		}

		// The tag names the size too, because one perception has previews of several sizes.
		etag := fmt.Sprintf("%s-%dx%d", picture.SHA256, picture.Width, picture.Height)
		payloadHeaders(c, picture.MediaType, etag)

		if picture.MediaType == "image/svg+xml" {
			// The tag is weak, because the compressed and the plain answer share it.
			c.Response().Header().Set("ETag", "W/"+c.Response().Header().Get("ETag"))
		}
		// A range is one of the bytes as they are, and may be refused.
		if picture.MediaType == "image/svg+xml" && c.Request().Header.Get("Range") == "" {
			compressed(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(picture.DataBase64))
			})).ServeHTTP(c.Response(), c.Request())
			return nil
		}

		s.content(c, bytes.NewReader(picture.DataBase64), int64(len(picture.DataBase64)))

		return nil
	}
}

// payloadHeaders sets the common headers of answers with bytes and returns their
// media type. The client that saved the bytes chose the type, so a browser must not
// guess another type nor run scripts in them.
func payloadHeaders(c echo.Context, declared, etag string) string {
	mediaType, params, err := mime.ParseMediaType(declared)
	if err != nil {
		mediaType, params = "application/octet-stream", nil
	}
	h := c.Response().Header()
	h.Set("Content-Type", mime.FormatMediaType(mediaType, params))
	h.Set("ETag", `"`+etag+`"`)
	h.Set("Vary", "Accept")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox")

	return mediaType
}

// shownInline reports whether a browser can show the type safely. SVG may contain scripts.
func shownInline(mediaType string) bool {
	switch {
	case mediaType == "image/svg+xml":
		return false
	case mediaType == "text/plain":
		return true
	}

	return strings.HasPrefix(mediaType, "image/") ||
		strings.HasPrefix(mediaType, "audio/") ||
		strings.HasPrefix(mediaType, "video/")
}
