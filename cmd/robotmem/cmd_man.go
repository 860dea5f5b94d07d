package main

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"

	"github.com/alecthomas/kong"

	"github.com/robotmem/robotmem-go/cmd/robotmem/internal/manual"
	"github.com/robotmem/robotmem-go/cmd/robotmem/internal/whole"
)

// manCmd prints pages for man, as a package installs them.
type manCmd struct {
	Command []string `arg:"" optional:"" name:"command" help:"The command, such as session start; none for the page of the program."`
	Folder  string   `name:"folder" placeholder:"DIR" type:"path" help:"Write the pages of all commands into this folder instead, such as ~/.local/share/man/man1."`
}

// Run prints one page or writes all.
func (c *manCmd) Run(a *app) error {
	showSettings(a.parser.Model.Node)

	m := &manual.Manual{App: a.parser.Model, Version: version(), Date: buildDate()}
	for _, exit := range exits {
		m.Exits = append(m.Exits, [2]string{strconv.Itoa(int(exit.code)), exit.meaning})
	}

	if c.Folder == "" {
		n, err := commandAt(a.parser.Model.Node, c.Command)
		if err != nil {
			return err
		}
		return m.Page(a.Stdout, n)
	}

	if len(c.Command) > 0 {
		return invalid("folder", "is for the pages of all commands; leave out %q, or print its page without --folder", c.Command)
	}
	if err := os.MkdirAll(c.Folder, 0o755); err != nil { //nolint:gosec // pages are for everybody
		return invalid("folder", "%v", err)
	}

	pages := m.Pages()
	for _, n := range pages {
		path := filepath.Join(c.Folder, m.Name(n)+".1")
		err := whole.Write(path, "folder", func(f *os.File) error { return m.Page(f, n) })
		if err == nil {
			err = os.Chmod(path, 0o644) //nolint:gosec // pages are for everybody
		}
		if err != nil {
			return err
		}
	}

	fmt.Fprintf(a.Stdout, "wrote %d pages to %s\n", len(pages), c.Folder)

	return nil
}

// commandAt finds a command by its words.
func commandAt(n *kong.Node, words []string) (*kong.Node, error) {
	for _, word := range words {
		at := slices.IndexFunc(n.Children, func(child *kong.Node) bool { return child.Name == word })
		if at < 0 {
			return nil, invalid("command", "there is no command %q; robotmem help lists all", word)
		}
		n = n.Children[at]
	}

	return n, nil
}

// buildDate is the day of the commit that this program was built from, "" if it is not known.
func buildDate() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}

	for _, s := range info.Settings {
		if s.Key == "vcs.time" && len(s.Value) >= len("2026-03-01") {
			return s.Value[:len("2026-03-01")]
		}
	}

	return ""
}
