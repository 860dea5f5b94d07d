package web

import (
	"bytes"
	"fmt"
	"mime"
	"net/http"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/robotmem/robotmem-go/robotmem"
)

// data answers the bytes of a perception, in ranges when asked, or the JSON
// response when the caller accepts application/json by name.
func (s *server) data(op *robotmem.Op) echo.HandlerFunc {
	return func(c echo.Context) error {
		res, err := s.call(c, op)
		if err != nil {
			return err
		}
		payload, ok := res.(*robotmem.DataResponse)
		if !ok || accepts(c.Request(), "application/json") {
			return writeJSON(c, http.StatusOK, res)
		}
		mediaType, params, err := mime.ParseMediaType(payload.MediaType)
		if err != nil {
			mediaType, params = "application/octet-stream", nil
		}
		h := c.Response().Header()
		h.Set("Content-Type", mime.FormatMediaType(mediaType, params))
		h.Set("ETag", `"`+payload.SHA256+`"`)
		h.Set("Vary", "Accept")
		// Whoever saved the bytes chose their type: a browser must neither
		// guess another one nor run what they hold.
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Content-Security-Policy", "default-src 'none'; sandbox")
		if !shownInline(mediaType) {
			h.Set("Content-Disposition", fmt.Sprintf(`attachment; filename="memory-%d"`, payload.MemoryID))
		}
		http.ServeContent(c.Response(), c.Request(), "", time.Time{}, bytes.NewReader(payload.DataBase64))
		return nil
	}
}

// shownInline reports whether a browser can show the type without risk. SVG
// can hold scripts.
func shownInline(mediaType string) bool {
	switch {
	case mediaType == "image/svg+xml":
		return false
	case mediaType == "text/plain":
		return true
	}
	return strings.HasPrefix(mediaType, "image/") || strings.HasPrefix(mediaType, "audio/")
}
