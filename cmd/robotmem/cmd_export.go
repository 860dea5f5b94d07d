package main

import (
	"bufio"
	"cmp"
	"context"
	"io"
	"os"
	"reflect"
	"strings"

	"github.com/robotmem/robotmem-go/cmd/robotmem/internal/printed"
	"github.com/robotmem/robotmem-go/cmd/robotmem/internal/whole"
	"github.com/robotmem/robotmem-go/perception/importers/recording"
	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/archive"
	"github.com/robotmem/robotmem-go/robotmem/archive/jsonl"
	"github.com/robotmem/robotmem-go/robotmem/archive/markdown"
	"github.com/robotmem/robotmem-go/robotmem/archive/sensors"
	"github.com/robotmem/robotmem-go/robotmem/local"
)

type exportCmd struct {
	MCAP     string `name:"mcap" xor:"form" placeholder:"FILE" help:"Write perceptions and facts as an MCAP file instead, which Foxglove and the mcap tool open. Recorded messages are written as they were. - is stdout."`
	Archive  string `name:"archive" xor:"form" placeholder:"FILE" help:"Write everything without loss as a tar: memories of every status with their past, episodes, payloads, who refers to whom. FILE.tar.zst is compressed; - is stdout."`
	Markdown string `name:"markdown" xor:"form" placeholder:"DIR" help:"Write a file for every memory and episode, its fields as front matter, payloads beside, to a new folder; editors of notes open it."`
	Session  string `name:"session" placeholder:"ID" help:"With --mcap, --archive and --markdown: only this episode."`
	Clear    bool   `name:"clear" help:"With --archive of an encrypted memory: do not encrypt the archive."`
	JSON     bool   `name:"json" help:"With --mcap, --archive and --markdown: print the account as JSON."`
}

// Run writes the facts to stdout, or what a flag asks for.
func (c *exportCmd) Run(ctx context.Context, a *app) error {
	facts := c.MCAP+c.Archive+c.Markdown == ""
	if facts && c.Session != "" {
		return invalid("session", "is for --mcap, --archive and --markdown; an export of facts writes those of all episodes")
	}
	if err := a.existing(); err != nil {
		return err
	}

	switch {
	case c.MCAP != "":
		return a.Use(ctx, func(m robotmem.Node) error { return c.mcap(ctx, a, m) })
	case c.Markdown != "":
		return a.UseFile(ctx, "markdown", func(m *local.Node) error { return c.whole(ctx, a, m) })
	case c.Archive != "":
		return a.UseFile(ctx, "archive", func(m *local.Node) error { return c.whole(ctx, a, m) })
	}

	return a.Use(ctx, func(m robotmem.Node) error {
		bar := a.newProgress("export", "facts", 0)
		return jsonl.Export(ctx, m, a.Stdout, a.Config.Collection, func(facts int) { bar.Add(int64(facts)) })
	})
}

func (c *exportCmd) mcap(ctx context.Context, a *app, m robotmem.Node) error {
	var report *recording.ExportReport

	write := func(to io.Writer) (err error) {
		out := bufio.NewWriterSize(to, 1<<20)
		o := sensors.ExportOptions{Collection: a.Config.Collection, Session: c.Session, Progress: a.newProgressOf("export", "memories")}
		if report, err = sensors.ExportMCAP(ctx, m, out, o); err != nil {
			return err
		}
		return out.Flush()
	}
	if c.MCAP == "-" {
		err := write(a.Stdout)
		// The recording is on stdout, so the report goes to stderr.
		a.Stdout = a.Stderr
		return a.showResult(c.JSON, report, err)
	}
	if err := isNew(c.MCAP, "mcap"); err != nil {
		return err
	}

	err := whole.Write(c.MCAP, "mcap", func(f *os.File) error { return write(f) })

	return a.showResult(c.JSON, &struct {
		File string `json:"file"`
		*recording.ExportReport
	}{c.MCAP, report}, err)
}

// whole exports everything, as an archive or a folder.
func (c *exportCmd) whole(ctx context.Context, a *app, m *local.Node) error {
	ctx = a.watched(ctx)
	o := archive.ExportOptions{Collection: a.Config.Collection, Session: c.Session, Generator: "robotmem " + a.Version}
	name := cmp.Or(c.Archive, c.Markdown)

	var (
		report *archive.ExportReport
		err    error
	)
	if c.Markdown != "" {
		err = markdown.Write(name, func(sink archive.Sink) (err error) {
			report, err = m.Export(ctx, sink, o)
			return err
		})
	} else {
		report, err = c.writeArchive(ctx, a, m, o)
	}

	if err != nil {
		return err
	}
	// The archive is on stdout, so the report goes to stderr.
	if name == "-" {
		a.Stdout = a.Stderr
	}

	return a.show(c.JSON, report, func(w *printed.Lines) {
		w.Line("wrote %s", name)
		w.Fields(reflect.ValueOf(*report), "")
	})
}

// isNew refuses the name of a file that exists: it may be a memory, or belong to one.
func isNew(name, field string) error {
	if _, err := os.Lstat(name); err == nil {
		return invalid(field, "%s is there already; name a new file", name)
	}

	return nil
}

// unsealed writes an archive in clear.
type unsealed struct{ io.Writer }

func (unsealed) Close() error { return nil }

// writeArchive writes to a new file or to stdout.
func (c *exportCmd) writeArchive(ctx context.Context, a *app, m *local.Node, o archive.ExportOptions) (report *archive.ExportReport, err error) {
	write := func(w io.Writer) error {
		// Seal writes at once.
		var sealed io.WriteCloser = unsealed{w}
		if !c.Clear {
			var err error
			if sealed, err = m.Seal(w); err != nil {
				return err
			}
		}

		out := bufio.NewWriterSize(sealed, 1<<20)
		sink := archive.NewWriter(out, strings.HasSuffix(c.Archive, ".zst"))
		if report, err = m.Export(ctx, sink, o); err != nil {
			return err
		}
		if err := out.Flush(); err != nil {
			return err
		}

		return sealed.Close()
	}
	if c.Archive == "-" {
		err = write(a.Stdout)
		return report, err
	}
	if err := isNew(c.Archive, "archive"); err != nil {
		return nil, err
	}
	err = whole.Write(c.Archive, "archive", func(f *os.File) error { return write(f) })

	return report, err
}
