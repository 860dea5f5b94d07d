package local

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"math"
	"os"

	"github.com/robotmem/robotmem-go/perception/payload"
	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/archive"
	"github.com/robotmem/robotmem-go/robotmem/internal/sqlite"
	"github.com/robotmem/robotmem-go/robotmem/internal/store"
	"github.com/robotmem/robotmem-go/robotmem/progress"
)

// ExportOptions limit an export. The zero value exports everything.
type ExportOptions struct {
	Collection string // exports only this collection if set
	Session    string // exports only this session if set
	Generator  string // the program's name, for the manifest
}

// ExportReport counts the records of an export.
type ExportReport struct {
	archive.Counts
	// Lost counts the payloads that the node does not hold: evicted, missing or damaged.
	// Their memories are exported with this state.
	Lost int64 `json:"lost"`
	// Evicted counts the payloads of Lost that the retention removed.
	Evicted int64 `json:"evicted"`
	// Damaged lists the ids of the memories that do not match their checksum. They are
	// not exported.
	Damaged []int64 `json:"damaged,omitempty"`
}

// Export writes every record of one snapshot to a sink: memories of every status with
// their past states, sessions, and links. Later writes are not included. The rows are
// first copied to a temporary file, so that a slow sink blocks neither writers nor
// checkpoints of the log. Payloads are immutable and are read when the sink opens them.
// Export fails with NotFound when there is no such session, and with the errors of the
// sink.
func (n *Node) Export(ctx context.Context, sink archive.Sink, o ExportOptions) (*ExportReport, error) {
	report, err := n.export(ctx, sink, o)
	return report, sqlite.Wrap("export", err)
}

func (n *Node) export(ctx context.Context, sink archive.Sink, o ExportOptions) (*ExportReport, error) {
	if o.Collection == "*" {
		o.Collection = ""
	}
	n.counters.flush(ctx, n)
	file, err := os.CreateTemp("", "robotmem-export-*")
	if err != nil {
		return nil, robotmem.Errorf(robotmem.Unavailable, "", "no temporary file can be made (%s); check the folder for temporary files", sqlite.Reason(err))
	}
	defer func() { _ = errors.Join(file.Close(), os.Remove(file.Name())) }()
	s := &spool{file: file, out: bufio.NewWriterSize(file, 1<<20)}
	m := progress.Of(ctx)
	m.Stage("reading", "memories", 0)
	var schema int64
	err = n.Store.Read(ctx, func(c *store.Conn) error {
		if o.Session != "" {
			if _, err := c.Session(o.Session); err != nil {
				return err
			}
		}
		var err error
		if schema, err = c.Number("PRAGMA user_version"); err != nil {
			return err
		}
		return s.fill(c, m, &o)
	})
	if err != nil {
		return nil, err
	}
	manifest := &archive.Manifest{
		CreatedAt: store.FormatTime(n.Now()), Schema: int(schema), Narrowed: narrowed(&o), Generator: o.Generator, Counts: s.counts,
	}
	m.Stage("writing", "memories", s.counts.Memories)
	return s.writeTo(ctx, n, sink, manifest)
}

func narrowed(o *ExportOptions) string {
	switch {
	case o.Session != "":
		return "session " + o.Session
	case o.Collection != "":
		return "collection " + o.Collection
	}
	return ""
}

// spool is a temporary file of records in JSON, one a line.
type spool struct {
	file    *os.File
	out     *bufio.Writer
	counts  archive.Counts
	damaged []int64
}

// spooled is a line of the spool; one field is set.
type spooled struct {
	Session *archive.Session `json:"s,omitempty"`
	Memory  *archive.Memory  `json:"m,omitempty"`
	First   bool             `json:"f,omitempty"`
	Link    *archive.Link    `json:"l,omitempty"`
}

func (s *spool) put(line spooled) error {
	data, err := robotmem.EncodeJSON(line)
	if err == nil {
		_, err = s.out.Write(append(data, '\n'))
	}
	return notSpooled(err)
}

func notSpooled(err error) error {
	if err == nil {
		return nil
	}
	return robotmem.Errorf(robotmem.Unavailable, "", "the temporary file cannot be written (%s); free some space in the folder for temporary files", sqlite.Reason(err))
}

// fill copies the records of an export to the spool.
func (s *spool) fill(c *store.Conn, m *progress.Meter, o *ExportOptions) error {
	err := c.EachArchivedSession(o.Collection, o.Session, func(session *archive.Session) error {
		s.counts.Sessions++
		return s.put(spooled{Session: session})
	})
	if err != nil {
		return err
	}
	named := map[string]bool{} // payloads that a memory before names
	err = c.EachArchived(o.Collection, o.Session, func(a *store.Archived) error {
		m.Add(1)
		p := a.Payload
		if a.Damaged {
			s.damaged = append(s.damaged, a.ID)
			return nil
		}
		s.counts.Memories++
		first := p != nil && !named[p.SHA256]
		if first {
			named[p.SHA256] = true
		}
		if first && !p.Lost {
			s.counts.Payloads++
			s.counts.PayloadBytes += p.Bytes
		}
		return s.put(spooled{Memory: &a.Memory, First: first})
	})
	if err != nil {
		return err
	}
	err = c.EachArchivedLink(o.Collection, o.Session, func(link *archive.Link) error {
		s.counts.Links++
		return s.put(spooled{Link: link})
	})
	return errors.Join(err, notSpooled(s.out.Flush()))
}

// writeTo writes the records of the spool to a sink.
func (s *spool) writeTo(ctx context.Context, n *Node, sink archive.Sink, manifest *archive.Manifest) (*ExportReport, error) {
	if err := sink.Begin(manifest); err != nil {
		return nil, sinkError(err)
	}
	report := &ExportReport{Counts: manifest.Counts, Damaged: s.damaged}
	m := progress.Of(ctx)
	dec := json.NewDecoder(bufio.NewReaderSize(io.NewSectionReader(s.file, 0, math.MaxInt64), 1<<20))
	dec.UseNumber()
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		var line spooled
		err := dec.Decode(&line)
		switch {
		case err == io.EOF:
			return report, sinkError(sink.Close())
		case err != nil:
			return nil, robotmem.Errorf(robotmem.Unavailable, "", "the temporary file cannot be read (%s)", sqlite.Reason(err))
		case line.Session != nil:
			err = sink.Session(line.Session)
		case line.Link != nil:
			err = sink.Link(line.Link)
		default:
			var b *archive.Bytes
			if b, err = n.archivedBytes(ctx, line.Memory, line.First, report); err == nil {
				err = sink.Memory(line.Memory, b)
			}
			m.Add(1)
		}
		if err != nil {
			return nil, sinkError(err)
		}
	}
}

// sinkError wraps an error of a sink that has no kind.
func sinkError(err error) error {
	if told := (*robotmem.Error)(nil); err == nil || errors.As(err, &told) {
		return err
	}
	return robotmem.Errorf(robotmem.Unavailable, "", "the export cannot be written (%s)", sqlite.Reason(err))
}

// archivedBytes returns the payload of a memory, nil if there is none or if it is
// damaged. It reads and verifies the payload.
func (n *Node) archivedBytes(ctx context.Context, m *archive.Memory, first bool, report *ExportReport) (*archive.Bytes, error) {
	p := m.Payload
	if p == nil {
		return nil, nil
	}
	if !p.Lost {
		whole, err := n.wholePayload(ctx, p.SHA256)
		if err != nil {
			return nil, err
		}
		p.Lost = !whole
	}
	if p.Lost {
		report.Lost++
		if len(m.Evictions) > 0 {
			report.Evicted++
		}
		return nil, nil
	}
	return &archive.Bytes{First: first, Open: func() (io.ReadCloser, error) { return n.payloadBySum(ctx, p.SHA256) }}, nil
}

// wholePayload reports whether the payload exists and matches its SHA-256.
func (n *Node) wholePayload(ctx context.Context, sum string) (bool, error) {
	r, err := n.payloadBySum(ctx, sum)
	if errors.Is(err, robotmem.Corrupt) || errors.Is(err, robotmem.NotFound) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer r.Close()
	_, err = io.Copy(io.Discard, payload.ReaderWith(ctx, r)) // compares the sum
	return err == nil, ctx.Err()
}

// payloadBySum opens a payload by its SHA-256. It fails with NotFound if there is none.
func (n *Node) payloadBySum(ctx context.Context, sum string) (io.ReadCloser, error) {
	var p *store.StoredPayload
	err := n.Store.Read(ctx, func(c *store.Conn) (err error) { p, err = c.Payload(sum); return err })
	if err != nil {
		return nil, err
	}
	if p == nil {
		return nil, robotmem.Errorf(robotmem.NotFound, "", "payload %s is not stored", sum)
	}
	return n.Store.OpenPayload(p)
}
