package web

import (
	"time"

	"github.com/labstack/echo/v4"
)

// Backups lists the backups of the memory that the node serves.
type Backups struct {
	Dir     string   `json:"dir"`
	Backups []Backup `json:"backups"` // newest first
}

// Backup describes one backup.
type Backup struct {
	Name      string    `json:"name"`
	CreatedAt time.Time `json:"created_at,omitzero"`
	Bytes     int64     `json:"bytes"`
	Problem   string    `json:"problem,omitempty"`
	Restore   string    `json:"restore"` // the command that replaces the memory by this backup
}

// backups lists the backups. With another it makes one more first.
func (s *server) backups(another bool) echo.HandlerFunc {
	return func(c echo.Context) error {
		all, err := s.opts.Backups(c.Request().Context(), another)
		return answer(c, all, err)
	}
}

// pause begins or ends the pause of the background work.
func (s *server) pause(on bool) echo.HandlerFunc {
	return func(c echo.Context) error {
		s.opts.Pause(on)
		return writeJSON(c, map[string]bool{"paused": on})
	}
}
