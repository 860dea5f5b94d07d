package web

import (
	"bufio"
	"net/http"
	"regexp"

	"github.com/labstack/echo/v4"

	"github.com/robotmem/robotmem-go/robotmem"
)

var safeName = regexp.MustCompile(`[^a-zA-Z0-9._-]`)

// sessionMCAP answers an episode as an MCAP file, as the command export --mcap writes it.
func (s *server) sessionMCAP(c echo.Context) error {
	ctx := c.Request().Context()
	id := c.Param("session_id")

	// An unknown episode must be found before the answer begins, while it can still be a problem document.
	if _, err := s.svc.Session(ctx, &robotmem.SessionRequest{SessionID: id}); err != nil {
		return err
	}

	h := c.Response().Header()
	h.Set(echo.HeaderContentType, "application/x-mcap")
	h.Set(echo.HeaderContentDisposition, `attachment; filename="episode-`+safeName.ReplaceAllString(id, "_")+`.mcap"`)
	if c.Request().Method == http.MethodHead {
		return nil
	}

	// The first megabyte is buffered, so that an early error can also be a problem document.
	out := bufio.NewWriterSize(c.Response(), 1<<20)
	err := s.opts.EpisodeMCAP(ctx, out, id)
	if err == nil {
		err = out.Flush()
	}

	if err != nil {
		if !c.Response().Committed {
			return err
		}
		s.log.Error("episode sent incompletely", "session_id", id, "err", err)

		// A part of a file must not look complete.
		panic(http.ErrAbortHandler)
	}

	return nil
}
