package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/robotmem/robotmem-go/cmd/robotmem/internal/live"
	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/archive/sensors"
)

type playCmd struct {
	Recording string `arg:"" help:"The id of an episode or an incident, or an MCAP file."`
	live.PlayFlags
}

// Run serves the recording until a signal comes.
func (c *playCmd) Run(ctx context.Context, a *app) error {
	started := func(address string) {
		fmt.Fprintln(a.Stdout, address)
		a.note("play: open this address in Foxglove or Lichtblick as a Foxglove WebSocket connection; Ctrl-C ends it")
	}
	if info, err := os.Stat(c.Recording); err == nil && info.Mode().IsRegular() {
		return c.Play(ctx, c.Recording, filepath.Base(c.Recording), a.Log, started)
	}

	dir, err := os.MkdirTemp("", "robotmem-")
	if err != nil {
		return &robotmem.Error{Kind: robotmem.Unavailable, Err: err}
	}
	a.closers = append(a.closers, removed(dir))
	path := filepath.Join(dir, "episode.mcap")

	err = a.Use(ctx, func(m robotmem.Node) error {
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if err != nil {
			return err
		}
		defer f.Close()
		_, err = sensors.ExportMCAP(ctx, m, f, sensors.ExportOptions{Session: c.Recording})

		return err
	})
	if err != nil {
		return err
	}

	return c.Play(ctx, path, c.Recording, a.Log, started)
}
