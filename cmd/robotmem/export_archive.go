package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/archive"
	"github.com/robotmem/robotmem-go/robotmem/local"
)

// UseFile calls f with the memory's file itself, for what no node does from
// afar. flag is what asked for it.
func (a *app) UseFile(ctx context.Context, flag string, f func(*local.Node) error) error {
	if a.Config.URL != "" {
		return invalid(flag, "works on the memory's file, not through a node: leave --url out and run it where the file is, beside the node if it likes; a node need not stop for it")
	}
	m, err := a.OpenDefault(ctx, clientCLI)
	if err != nil {
		return err
	}
	// An error of the work itself says more than one of closing after it.
	return errors.Join(f(m), m.Close())
}

// moves exports everything, to an archive or a folder, or as content hashes.
func (c *exportCmd) moves(ctx context.Context, a *app) error {
	flag := "archive"
	switch {
	case c.Hashes:
		flag = "hashes"
	case c.Markdown != "":
		flag = "markdown"
	}
	if err := a.existing(); err != nil {
		return err
	}
	return a.UseFile(ctx, flag, func(m *local.Node) error {
		ctx, bar := a.watched(ctx)
		defer bar.Done()
		o := local.ExportOptions{Collection: a.Config.Collection, Session: c.Session, Generator: "robotmem " + a.Version}
		if c.Hashes {
			o.HashesOnly = true
			out := bufio.NewWriterSize(a.Stdout, 1<<20)
			if !c.JSON {
				_, err := m.Export(ctx, archive.NewHashes(out), o)
				return errors.Join(err, out.Flush())
			}
			list := &hashList{out: out}
			_, err := m.Export(ctx, archive.NewHashes(list), o)
			return errors.Join(err, list.end(), out.Flush())
		}
		name, write := c.Archive, c.writeArchive
		if c.Markdown != "" {
			name, write = c.Markdown, c.markdown
		}
		report, err := write(ctx, a, m, o)
		bar.Done()
		if err != nil {
			return err
		}
		return c.moved(a, name, report)
	})
}

// hashList writes the lines of the list of hashes as one JSON object. It holds
// none of them: a memory may have millions.
type hashList struct {
	out   *bufio.Writer
	begun bool
}

// hashEntry is a line of the list.
type hashEntry struct {
	SHA256 string `json:"sha256"`
	Kind   string `json:"kind"`
	Of     string `json:"of,omitempty"`
}

// Write takes one line, HASH KIND and for most kinds what it is of.
func (h *hashList) Write(line []byte) (int, error) {
	e, of := hashEntry{}, []string{}
	for i, word := range strings.Fields(string(line)) {
		switch i {
		case 0:
			e.SHA256 = word
		case 1:
			e.Kind = word
		default:
			of = append(of, word)
		}
	}
	e.Of = strings.Join(of, " ")
	data, err := robotmem.EncodeJSON(e)
	if err != nil {
		return 0, err
	}
	h.begin(",")
	_, err = h.out.Write(data)
	return len(line), err
}

// begin writes the head once, and otherwise what stands between two entries. Its
// errors stay with the writer, which Flush tells.
func (h *hashList) begin(between string) {
	if h.begun {
		_, _ = h.out.WriteString(between)
		return
	}
	h.begun = true
	_, _ = h.out.WriteString(`{"hashes":[`)
}

func (h *hashList) end() error {
	h.begin("")
	_, err := h.out.WriteString("]}\n")
	return err
}

// writeArchive makes a file that appears whole or not at all, or writes to
// stdout.
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
		return report, write(a.Stdout)
	}
	if _, err := os.Lstat(c.Archive); err == nil {
		return nil, invalid("archive", "%s is there already; name a new file", c.Archive)
	}
	refuse := func(err error) error { return invalid("archive", "%v", err) }
	err = wholeFile(c.Archive, refuse, func(f *os.File) error {
		// It holds what the memory's file holds, and is as private.
		return errors.Join(f.Chmod(0o600), write(f))
	})
	return report, err
}

// moved prints the account, beside what went to stdout.
func (c *exportCmd) moved(a *app, name string, r *local.ExportReport) error {
	out := a.Stdout
	if name == "-" {
		out = a.Stderr
	}
	if c.JSON {
		line, err := encode(r)
		if err == nil {
			_, err = out.Write(line)
		}
		return err
	}
	w := &lines{w: out}
	w.line("wrote %s: %s, %s, %s of %s, %s", name, plural(r.Memories, "memory", "memories"), count(r.Sessions, "session"),
		count(r.Payloads, "payload"), sizeText(r.PayloadBytes), count(r.Links, "link"))
	if r.Evicted > 0 {
		w.line("%s were evicted before; their memories say so", count(r.Evicted, "payload"))
	}
	if lost := r.Lost - r.Evicted; lost > 0 {
		w.line("%s lost or damaged; their memories say so; robotmem doctor names them", plural(lost, "payload is", "payloads are"))
	}
	return w.err
}

func plural(n int64, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
