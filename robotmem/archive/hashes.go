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
func (h *Hashes) Session(s *Session) error { return h.line(s, "session "+s.SessionID) }

// Memory implements Sink.
func (h *Hashes) Memory(m *Memory, b *Bytes) error {
	err := h.line(m, "memory "+m.UID)
	if err == nil && b != nil && b.First {
		_, err = fmt.Fprintf(h.w, "%s  payload %d\n", m.Payload.SHA256, m.Payload.Bytes)
	}
	return err
}

// Link implements Sink.
func (h *Hashes) Link(l *Link) error { return h.line(l, "link") }

// Close implements Sink.
func (h *Hashes) Close() error { return nil }

func (h *Hashes) line(record interface{ Hash() (string, error) }, name string) error {
	sum, err := record.Hash()
	if err == nil {
		_, err = fmt.Fprintf(h.w, "%s  %s\n", sum, name)
	}
	return err
}
