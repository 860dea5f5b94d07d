package web

import (
	"github.com/labstack/echo/v4"

	"github.com/robotmem/robotmem-go/ui"
)

// addReference serves the API reference: Swagger UI, which shows
// /api/openapi.json. All of its files come from the program, so it works without
// a network.
func (s *server) addReference(e *echo.Echo) {
	files, err := newPages(ui.Reference())
	if err != nil {
		s.log.Error("reading the API reference", "err", err)
	}
	for name, read := range files {
		path := "/api/reference" + name
		if name == "/index.html" {
			path = "/api/reference"
		}
		get(e, path, func(c echo.Context) error {
			p, err := read()
			if err != nil {
				return err
			}
			p.serve(c.Response(), c.Request())
			return nil
		})
	}
}
