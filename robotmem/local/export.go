package local

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"os"

	"github.com/robotmem/robotmem-go/perception/payload"
	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/archive"
	"github.com/robotmem/robotmem-go/robotmem/internal/sqlite"
	"github.com/robotmem/robotmem-go/robotmem/internal/store"
	"github.com/robotmem/robotmem-go/robotmem/progress"
)

// ExportOptions narrow an export. The zero value is everything.
type ExportOptions struct {
	Collection string // only this one
	Session    string // only this episode
	Generator  string // the program, for the manifest
	// HashesOnly says that the sink opens no payload, so that none need be read
	// to see whether it is whole.
	HashesOnly bool
}

// ExportReport says what went into an export.
type ExportReport struct {
	archive.Counts
	// Lost are the payloads that the node has only the names of: evicted, missing
	// or damaged. Their memories are exported and say so.
	Lost int64 `json:"lost"`
	// Evicted are those of Lost that a budget took away.
	Evicted int64 `json:"evicted"`
	// Damaged are the memories, by id, that do not match their checksum. They are
	// left out.
	Damaged []int64 `json:"damaged,omitempty"`
}

// Export gives a sink every record of one moment: memories of every status with
// their past, episodes, and what refers to what. What others write meanwhile is
// not in it. The rows of that moment are first copied to a temporary file, so
// that a slow sink holds back neither them nor the shrinking of the log; the
// bytes of payloads never change and are read as the sink asks for them. It
// fails with NotFound when there is no such session, and as the sink does.
func (n *Node) Export(ctx context.Context, sink archive.Sink, o ExportOptions) (*ExportReport, error) {
	report, err := n.export(ctx, sink, o)
	if err != nil {
		return nil, sqlite.Wrap("export", err)
	}
	return report, nil
}

func (n *Node) export(ctx context.Context, sink archive.Sink, o ExportOptions) (*ExportReport, error) {
	if o.Collection == "*" {
		o.Collection = ""
	}
	n.counters.flush(ctx, n)
	file, err := os.CreateTemp("", "robotmem-export-*")
	if err != nil {
		return nil, robotmem.Errorf(robotmem.Unavailable, "", "no temporary file can be made (%s); check the folder for temporary files", store.RootReason(err))
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
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return nil, robotmem.Errorf(robotmem.Unavailable, "", "the temporary file cannot be read (%s)", store.RootReason(err))
	}
	manifest := &archive.Manifest{
		CreatedAt: store.FormatTime(n.Now()), Schema: int(schema), Narrowed: narrowed(&o), Generator: o.Generator, Counts: s.counts,
	}
	m.Stage("writing", "memories", s.counts.Memories)
	return s.writeTo(ctx, n, sink, manifest, &o)
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

// spool is a temporary file of records, one a line.
type spool struct {
	file    *os.File
	out     *bufio.Writer
	counts  archive.Counts
	damaged []int64
}

// spooled is a line of it: one field is set.
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
	if err != nil {
		return robotmem.Errorf(robotmem.Unavailable, "", "the temporary file cannot be written (%s); free some space in the folder for temporary files", store.RootReason(err))
	}
	return nil
}

// fill copies what an export is of.
func (s *spool) fill(c *store.Conn, m *progress.Meter, o *ExportOptions) error {
	err := c.EachArchivedSession(o.Collection, o.Session, func(session *archive.Session) error {
		s.counts.Sessions++
		return s.put(spooled{Session: session})
	})
	if err != nil {
		return err
	}
	unnamed := map[string]bool{} // payloads whose first memory is left out
	err = c.EachArchived(o.Collection, o.Session, func(a *store.Archived) error {
		m.Add(1)
		p := a.Payload
		if a.Damaged {
			s.damaged = append(s.damaged, a.ID)
			if p != nil && a.First {
				unnamed[p.SHA256] = true
			}
			return nil
		}
		s.counts.Memories++
		if p != nil && unnamed[p.SHA256] {
			a.First = true
			delete(unnamed, p.SHA256)
		}
		if p != nil && !p.Lost && a.First {
			s.counts.Payloads++
			s.counts.PayloadBytes += p.Bytes
		}
		return s.put(spooled{Memory: &a.Memory, First: a.First})
	})
	if err != nil {
		return err
	}
	err = c.EachArchivedLink(o.Collection, o.Session, func(link *archive.Link) error {
		s.counts.Links++
		return s.put(spooled{Link: link})
	})
	if err != nil {
		return err
	}
	if err := s.out.Flush(); err != nil {
		return robotmem.Errorf(robotmem.Unavailable, "", "the temporary file cannot be written (%s); free some space in the folder for temporary files", store.RootReason(err))
	}
	return nil
}

// writeTo gives a sink what was copied.
func (s *spool) writeTo(ctx context.Context, n *Node, sink archive.Sink, manifest *archive.Manifest, o *ExportOptions) (*ExportReport, error) {
	if err := sink.Begin(manifest); err != nil {
		return nil, sinkError(err)
	}
	report := &ExportReport{Counts: manifest.Counts, Damaged: s.damaged}
	m := progress.Of(ctx)
	dec := json.NewDecoder(bufio.NewReaderSize(s.file, 1<<20))
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
			return nil, robotmem.Errorf(robotmem.Unavailable, "", "the temporary file cannot be read (%s)", store.RootReason(err))
		case line.Session != nil:
			err = sink.Session(line.Session)
		case line.Link != nil:
			err = sink.Link(line.Link)
		default:
			var b *archive.Bytes
			if b, err = n.archivedBytes(ctx, line.Memory, line.First, o.HashesOnly, report); err == nil {
				err = sink.Memory(line.Memory, b)
			}
			m.Add(1)
		}
		if err != nil {
			return nil, sinkError(err)
		}
	}
}

// sinkError gives an error of a sink a kind.
func sinkError(err error) error {
	if told := (*robotmem.Error)(nil); err == nil || errors.As(err, &told) {
		return err
	}
	return robotmem.Errorf(robotmem.Unavailable, "", "it cannot be written (%s)", store.RootReason(err))
}

// archivedBytes is the payload of a memory, nil if it has none that is whole.
// What lies in the folder is read to its end to see that.
func (n *Node) archivedBytes(ctx context.Context, m *archive.Memory, first, hashesOnly bool, report *ExportReport) (*archive.Bytes, error) {
	p := m.Payload
	if p == nil {
		return nil, nil
	}
	if !p.Lost && !hashesOnly {
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

// wholePayload reports whether the bytes of a sum are there and right.
func (n *Node) wholePayload(ctx context.Context, sum string) (bool, error) {
	r, err := n.payloadBySum(ctx, sum)
	if errors.Is(err, robotmem.Corrupt) || errors.Is(err, robotmem.NotFound) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	h := sha256.New()
	_, err = io.Copy(h, payload.ReaderWith(ctx, r))
	if cerr := ctx.Err(); cerr != nil {
		err = errors.Join(cerr, r.Close())
		return false, err
	}
	whole := err == nil && hex.EncodeToString(h.Sum(nil)) == sum
	return whole, r.Close()
}

// payloadBySum opens the bytes of a sum. NotFound says that there are none.
func (n *Node) payloadBySum(ctx context.Context, sum string) (io.ReadCloser, error) {
	var p *store.StoredPayload
	err := n.Store.Read(ctx, func(c *store.Conn) (err error) { p, err = c.Payload(sum); return err })
	if err != nil {
		return nil, err
	}
	if p == nil {
		return nil, robotmem.Errorf(robotmem.NotFound, "", "payload %s was taken away", sum)
	}
	return n.Store.OpenPayload(p)
}
