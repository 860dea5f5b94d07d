package archive

import (
	"fmt"
	"io"
)

// Hashes is the [Sink] that lists the content hash of every record, one a line,
// in an order that is the same on every node:
//
//	HASH  session SESSION_ID
//	HASH  memory UID
//	HASH  payload SIZE
//	HASH  link
//
// The hash of a payload is that of its bytes. A payload that the node has lost is not listed.
type Hashes struct{ w io.Writer }

var _ Sink = (*Hashes)(nil)

// NewHashes writes the list to w.
func NewHashes(w io.Writer) *Hashes { return &Hashes{w} }

// Begin implements Sink.
func (h *Hashes) Begin(*Manifest) error { return nil }

// Session implements Sink.
func (h *Hashes) Session(s *Session) error {
	sum, err := s.Hash()
	return h.line(err, sum, "session", s.SessionID)
}

// Memory implements Sink.
func (h *Hashes) Memory(m *Memory, b *Bytes) error {
	sum, err := m.Hash()
	if err := h.line(err, sum, "memory", m.UID); err != nil || b == nil || !b.First {
		return err
	}
	return h.line(nil, m.Payload.SHA256, "payload", fmt.Sprint(m.Payload.Bytes))
}

// Link implements Sink.
func (h *Hashes) Link(l *Link) error {
	sum, err := l.Hash()
	if err == nil {
		_, err = fmt.Fprintf(h.w, "%s  link\n", sum)
	}
	return err
}

// Close implements Sink.
func (h *Hashes) Close() error { return nil }

func (h *Hashes) line(err error, sum, kind, name string) error {
	if err == nil {
		_, err = fmt.Fprintf(h.w, "%s  %s %s\n", sum, kind, name)
	}
	return err
}
