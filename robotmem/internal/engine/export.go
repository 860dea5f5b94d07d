package engine

import (
	"context"
	"errors"
	"io"

	"github.com/robotmem/robotmem-go/perception/payload"
	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/archive"
	"github.com/robotmem/robotmem-go/robotmem/internal/store"
	"github.com/robotmem/robotmem-go/robotmem/progress"
)

// Export writes every record of one snapshot to a sink: memories of every status with
// their past states, sessions, and links. Later writes are not included. A slow sink
// delays no writer, but the log of the file grows until Export returns. Export fails with
// NotFound when there is no such session, and with the errors of the sink.
func (n *Engine) Export(
	ctx context.Context, sink archive.Sink, o archive.ExportOptions,
) (*archive.ExportReport, error) {
	if o.Collection == "*" {
		o.Collection = ""
	}

	// Counts of recalls that are still in memory would be missing in the archive.
	n.counters.flush(ctx, n)
	e := &exporting{node: n, o: o, report: &archive.ExportReport{}}
	err := n.Store.Read(ctx, func(c *store.Conn) error {
		e.c = c
		return e.run(ctx, sink)
	})
	if err != nil {
		return nil, robotmem.Wrap("export", err)
	}

	return e.report, nil
}

// exporting is the state of one Export call.
type exporting struct {
	node   *Engine
	c      *store.Conn
	o      archive.ExportOptions
	report *archive.ExportReport
}

// run counts the records for the manifest, then writes them.
func (e *exporting) run(ctx context.Context, sink archive.Sink) error {
	if e.o.Session != "" {
		if _, err := e.c.Session(e.o.Session); err != nil {
			return err
		}
	}

	schema, err := e.c.Number(store.SchemaVersion)
	if err != nil {
		return err
	}

	m := progress.Of(ctx)
	m.Stage("reading", "memories", 0)
	counted := &counter{}

	// The manifest precedes the records and holds their counts, so the records are read twice in one snapshot. The
	// first pass does not verify payloads, which would read all bytes twice.
	if err := e.records(ctx, counted, false); err != nil {
		return err
	}

	e.report.Counts = counted.Counts
	m.Stage("writing", "memories", counted.Memories)
	narrowed := ""
	if e.o.Session != "" {
		narrowed = "session " + e.o.Session
	} else if e.o.Collection != "" {
		narrowed = "collection " + e.o.Collection
	}

	err = sink.Begin(&archive.Manifest{
		CreatedAt: store.FormatTime(e.node.Now()), Schema: int(schema), Narrowed: narrowed, Generator: e.o.Generator, Counts: counted.Counts,
	})
	if err == nil {
		err = e.records(ctx, sink, true)
	}
	if err == nil {
		err = sink.Close()
	}

	return sinkError(err)
}

// records gives all records to a sink. If verify is set, a payload is read before, and named
// as lost if it is not whole.
func (e *exporting) records(ctx context.Context, sink archive.Sink, verify bool) error {
	if err := e.c.EachArchivedSession(e.o.Collection, e.o.Session, sink.Session); err != nil {
		return err
	}

	// A second pass counts again from 0.
	e.report.Damaged, e.report.Lost, e.report.Evicted = nil, 0, 0
	// named holds the payloads that an earlier memory names.
	named := map[string]bool{}
	err := e.c.EachArchived(e.o.Collection, e.o.Session, func(a *store.Archived) (err error) {
		progress.Of(ctx).Add(1)
		if a.Damaged {
			e.report.Damaged = append(e.report.Damaged, a.ID)
			return nil
		}

		p := a.Payload
		if p == nil {
			return sink.Memory(&a.Memory, nil)
		}

		first := !named[p.SHA256]
		named[p.SHA256] = true
		if verify && !p.Lost {
			if p.Lost, err = e.lost(ctx, p.SHA256); err != nil {
				return err
			}
		}

		if !p.Lost {
			return sink.Memory(&a.Memory,
				&archive.Bytes{First: first, Open: func() (io.ReadCloser, error) { return e.open(p.SHA256) }})
		}

		e.report.Lost++
		if len(a.Evictions) > 0 {
			e.report.Evicted++
		}

		return sink.Memory(&a.Memory, nil)
	})
	if err != nil {
		return err
	}

	return e.c.EachArchivedLink(e.o.Collection, e.o.Session, sink.Link)
}

// counter is a sink that counts.
type counter struct{ archive.Counts }

func (s *counter) Begin(*archive.Manifest) error { return nil }

func (s *counter) Session(*archive.Session) error { s.Sessions++; return nil }

func (s *counter) Memory(m *archive.Memory, b *archive.Bytes) error {
	s.Memories++
	if b != nil && b.First {
		s.Payloads++
		s.PayloadBytes += m.Payload.Bytes
	}
	return nil
}

func (s *counter) Link(*archive.Link) error { s.Links++; return nil }

func (s *counter) Close() error { return nil }

// sinkError wraps an error of a sink that has no kind.
func sinkError(err error) error {
	if told := (*robotmem.Error)(nil); err == nil || errors.As(err, &told) {
		return err
	}
	return robotmem.Errorf(robotmem.Unavailable, "", "the export cannot be written (%s) and is not whole; "+
		"check the disk's space and who may write there, and export again", robotmem.Reason(err))
}

// lost reports whether a payload is missing or does not match its SHA-256.
func (e *exporting) lost(ctx context.Context, sum string) (bool, error) {
	r, err := e.open(sum)
	if errors.Is(err, robotmem.Corrupt) || errors.Is(err, robotmem.NotFound) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	defer r.Close()
	_, err = io.Copy(io.Discard, payload.ReaderWith(ctx, r)) // compares the sum

	return err != nil, ctx.Err()
}

// open opens a payload by its SHA-256. It fails with NotFound if there is none.
func (e *exporting) open(sum string) (io.ReadCloser, error) {
	p, err := e.c.Payload(sum)
	if err != nil {
		return nil, err
	}
	if p == nil {
		return nil, robotmem.Errorf(robotmem.NotFound, "", "payload %s is not stored", sum)
	}

	return e.node.Store.OpenPayload(p)
}
