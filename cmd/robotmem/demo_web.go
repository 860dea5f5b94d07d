package main

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"runtime"
)

// serve shows the demo's file in the dashboard until ctx ends.
func (c *demoCmd) serve(ctx context.Context, a *app, r *demoReport) error {
	// The file of this run alone: the user's own settings name another.
	a.Config.DB, a.Config.URL, a.Config.Collection = r.DB, "", ""
	a.Config.Home, a.Config.Token = filepath.Dir(r.DB), "" // nor are its tokens for this
	if !c.JSON {
		w := &demoText{lines{w: a.Stdout}}
		w.line("")
		w.line("The dashboard on this file, until Ctrl-C. Open it and search for")
		w.line("   %s", r.Words.Query)
		w.line("The hits say why they were found, and lead to their plots. Then look at Episodes for how")
		w.line("a day went.")
		if w.err != nil {
			return w.err
		}
	}
	server := &webCmd{Addr: c.Addr}
	if c.Open {
		server.ready = func(address string) {
			if err := openBrowser(address); err != nil {
				fmt.Fprintf(a.Stderr, "robotmem: no browser can be started (%v); open %s yourself\n", err, address)
			}
		}
	}
	return server.Run(ctx, a)
}

// openBrowser hands an address to the system, which knows the user's browser.
// It outlives this program.
func openBrowser(address string) error {
	name, args := "xdg-open", []string{address}
	switch runtime.GOOS {
	case "darwin":
		name = "open"
	case "windows":
		name, args = "rundll32", []string{"url.dll,FileProtocolHandler", address}
	}
	cmd := exec.CommandContext(context.Background(), name, args...)
	if err := cmd.Start(); err != nil {
		return err
	}
	return cmd.Process.Release()
}
