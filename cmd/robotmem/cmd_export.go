package main

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"reflect"
	"strings"

	"github.com/robotmem/robotmem-go/perception/recording"
	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/archive"
	"github.com/robotmem/robotmem-go/robotmem/archive/jsonl"
	"github.com/robotmem/robotmem-go/robotmem/archive/markdown"
	"github.com/robotmem/robotmem-go/robotmem/archive/sensors"
	"github.com/robotmem/robotmem-go/robotmem/local"
)

type exportCmd struct {
	MCAP     string `name:"mcap" placeholder:"FILE" help:"Write perceptions and facts as an MCAP file instead, which Foxglove and the mcap tool open. Recorded messages are written as they were."`
	Archive  string `name:"archive" placeholder:"FILE" help:"Write everything without loss as a tar: memories of every status with their past, episodes, payloads, who refers to whom. FILE.tar.zst is compressed; - is stdout."`
	Markdown string `name:"markdown" placeholder:"DIR" help:"Write a file for every memory and episode, its fields as front matter, payloads beside, to a new folder; editors of notes open it."`
	Hashes   bool   `name:"hashes" help:"List the content hash of every record and payload; two nodes hold the same when their lists are equal."`
	Session  string `name:"session" placeholder:"ID" help:"With --mcap, --archive, --markdown and --hashes: only this episode."`
	JSON     bool   `name:"json" help:"With --mcap, --archive and --markdown: print the account as JSON; with --hashes the list."`
}

// Run writes the facts to stdout, or what a flag asks for.
func (c *exportCmd) Run(ctx context.Context, a *app) error {
	asked := c.asked()
	switch {
	case len(asked) > 1:
		return invalid(asked[1], "is another export than --%s; ask for one at a time", asked[0])
	case len(asked) == 0 && c.Session != "":
		return invalid("session", "is for --mcap, --archive, --markdown and --hashes; an export of facts writes those of all episodes")
	}
	if err := a.existing(); err != nil {
		return err
	}
	switch {
	case c.MCAP != "":
		return a.Use(ctx, func(m robotmem.Node) error { return c.mcap(ctx, a, m) })
	case len(asked) > 0:
		return a.UseFile(ctx, asked[0], func(m *local.Node) error { return c.whole(ctx, a, m) })
	}
	return a.Use(ctx, func(m robotmem.Node) error {
		bar := a.newProgress("export", 0)
		defer bar.Done()
		return jsonl.Export(ctx, m, a.Stdout, a.Config.Collection, func(facts int) { bar.Add(int64(facts)) })
	})
}

// asked are the flags that ask for something else than facts.
func (c *exportCmd) asked() (flags []string) {
	for _, f := range []struct {
		name string
		on   bool
	}{{"mcap", c.MCAP != ""}, {"archive", c.Archive != ""}, {"markdown", c.Markdown != ""}, {"hashes", c.Hashes}} {
		if f.on {
			flags = append(flags, f.name)
		}
	}
	return flags
}

func (c *exportCmd) mcap(ctx context.Context, a *app, m robotmem.Node) error {
	bar := a.newProgress("export", 0)
	defer bar.Done()
	var report *recording.ExportReport
	refuse := func(err error) error { return invalid("mcap", "%v", err) }
	err := wholeFile(c.MCAP, refuse, func(f *os.File) (err error) {
		out := bufio.NewWriterSize(f, 1<<20)
		o := sensors.ExportOptions{Collection: a.Config.Collection, Session: c.Session, Progress: bar.Set}
		if report, err = sensors.ExportMCAP(ctx, m, out, o); err != nil {
			return err
		}
		return out.Flush()
	})
	bar.Done()
	if err != nil {
		return err
	}
	answer := struct {
		File string `json:"file"`
		*recording.ExportReport
	}{c.MCAP, report}
	return a.show(c.JSON, &answer, nil)
}

// whole exports everything, as an archive, a folder or content hashes.
func (c *exportCmd) whole(ctx context.Context, a *app, m *local.Node) error {
	ctx, bar := a.watched(ctx)
	defer bar.Done()
	o := local.ExportOptions{Collection: a.Config.Collection, Session: c.Session, Generator: "robotmem " + a.Version}
	name := c.Archive
	var report *local.ExportReport
	var err error
	switch {
	case c.Hashes:
		o.HashesOnly = true
		return c.hashes(ctx, a, m, o)
	case c.Markdown != "":
		name = c.Markdown
		err = markdown.Write(c.Markdown, func(sink archive.Sink) (err error) {
			report, err = m.Export(ctx, sink, o)
			return err
		})
	default:
		report, err = c.writeArchive(ctx, a, m, o)
	}
	bar.Done()
	if err != nil {
		return err
	}
	if name == "-" { // the archive is on stdout
		a.Stdout = a.Stderr
	}
	return a.show(c.JSON, report, func(w *lines) {
		w.line("wrote %s", name)
		w.fields(reflect.ValueOf(*report), "")
	})
}

// hashes lists the content hashes: lines, or one JSON object. A memory may have millions, so
// the list is not kept in memory.
func (c *exportCmd) hashes(ctx context.Context, a *app, m *local.Node, o local.ExportOptions) error {
	out := bufio.NewWriterSize(a.Stdout, 1<<20)
	if !c.JSON {
		_, err := m.Export(ctx, archive.NewHashes(out), o)
		return errors.Join(err, out.Flush())
	}
	list := &hashList{out: out, before: `{"hashes":[`}
	_, err := m.Export(ctx, archive.NewHashes(list), o)
	if list.before != "," { // no entry was written
		_, _ = out.WriteString(list.before)
	}
	_, _ = out.WriteString("]}\n") // Flush returns its error
	return errors.Join(err, out.Flush())
}

// hashList writes the lines of the list of hashes as entries of a JSON array.
type hashList struct {
	out    *bufio.Writer
	before string // the next entry
}

// Write takes one line: HASH KIND and for most kinds what it belongs to.
func (h *hashList) Write(line []byte) (int, error) {
	words := strings.Fields(string(line))
	data, err := robotmem.EncodeJSON(struct {
		SHA256 string `json:"sha256"`
		Kind   string `json:"kind"`
		Of     string `json:"of,omitempty"`
	}{words[0], words[1], strings.Join(words[2:], " ")})
	if err == nil {
		_, err = h.out.WriteString(h.before + string(data))
	}
	h.before = ","
	return len(line), err
}

// writeArchive writes to a new file or to stdout.
func (c *exportCmd) writeArchive(ctx context.Context, a *app, m *local.Node, o local.ExportOptions) (report *local.ExportReport, err error) {
	write := func(w io.Writer) error {
		out := bufio.NewWriterSize(w, 1<<20)
		sink := archive.NewWriter(out, archive.WriterOptions{Zstd: strings.HasSuffix(c.Archive, ".zst")})
		if report, err = m.Export(ctx, sink, o); err != nil {
			return errors.Join(err, sink.Discard())
		}
		return out.Flush()
	}
	if c.Archive == "-" {
		err = write(a.Stdout)
		return report, err
	}
	if _, err := os.Lstat(c.Archive); err == nil {
		return nil, invalid("archive", "%s is there already; name a new file", c.Archive)
	}
	refuse := func(err error) error { return invalid("archive", "%v", err) }
	err = wholeFile(c.Archive, refuse, func(f *os.File) error {
		// The archive is as private as the memory.
		return errors.Join(f.Chmod(0o600), write(f))
	})
	return report, err
}
