package site

import (
	"bufio"
	"context"
	"errors"
	"io"
	"slices"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/archive"
	"github.com/robotmem/robotmem-go/robotmem/fleet"
	"github.com/robotmem/robotmem-go/robotmem/internal/engine"
	"github.com/robotmem/robotmem-go/robotmem/internal/store"
	"github.com/robotmem/robotmem-go/robotmem/local"
)

// A SHA-256 proves nothing: who knows one need not have the bytes. The row of a memory names a payload only if the bytes
// came with the memory, or if a memory that the sender may read names it already. Until then the memory has no payload,
// and whether the site has the bytes makes no difference to any answer.

// wants adds a payload to those that the site asks for, if it does not have it.
func wants(c *store.Conn, sum string, ack *fleet.PushResponse) error {
	p, err := c.Payload(sum)
	if err == nil && p == nil && !slices.Contains(ack.Wanted, sum) {
		ack.Wanted = append(ack.Wanted, sum)
	}
	return err
}

// wantsOf adds the payload of a memory that the robot has sent. An answer about another memory would say that it exists.
func (a *arrival) wantsOf(c *store.Conn, m *fleet.NumberedMemory, known *store.Archived) error {
	if known == nil || requireMemory(a.caller, known.Extra.Robot, known.Collection) != nil {
		return nil
	}

	// What the site has evicted is not wanted again.
	taken, err := c.Number(store.CountTakenEvictions, known.ID)
	if err != nil || taken > 0 {
		return err
	}

	switch sum := m.Payload.SHA256; {
	case known.Payload == nil && !slices.Contains(a.ack.Wanted, sum):
		a.ack.Wanted = append(a.ack.Wanted, sum)
	case known.Payload != nil && known.Payload.SHA256 == sum:
		return wants(c, sum, a.ack)
	}

	return nil
}

// provePayload takes the payload from a memory whose sender does not prove that it has the bytes.
func (a *arrival) provePayload(c *store.Conn, r *store.ImportRecord, known *store.Archived) error {
	if r.Proven && known != nil && known.Payload != nil && known.Payload.SHA256 != r.Payload.SHA256 {
		return otherPayload()
	}
	if r.Payload == nil || r.Proven {
		return nil
	}
	reached, err := c.Reach(a.caller.Collections, r.Payload.SHA256)
	if err != nil || reached {
		return err
	}

	// The transaction may run twice, and finds the payload taken then.
	a.unproven[r.UID], r.Payload = r.Payload, nil
	if known != nil && known.Payload != nil {
		r.Payload = known.Payload
	}

	return nil
}

func otherPayload() error {
	return robotmem.Errorf(robotmem.Invalid, "payload", "is another one than its memory has; save another perception")
}

// mayStore fails with an error that is refusable if the memory is not the sender's, or names what is not.
func (a *arrival) mayStore(c *store.Conn, m *archive.Memory, known *store.Archived) error {
	if known != nil {
		if err := requireMemory(a.caller, known.Extra.Robot, known.Collection); err != nil {
			return err
		}
	}
	if m.Session != "" {
		ctx := robotmem.WithCaller(context.Background(), a.caller)
		if err := requireSession(ctx, c, a.push.Robot, m.Session); err != nil {
			return err
		}
	}

	return a.requireSuccessors(c, m.SupersededBy, m.Versions)
}

const mostHead = 1 << 20 // of the memory before a payload

// receivePayload stores the payload of a memory: a push of this memory on one line, then the bytes. It fails unless the
// bytes are those of the memory, and are its payload then.
func receivePayload(ctx context.Context, node Memories, body io.Reader) error {
	// The line is read without copying, so the buffer limits its length.
	in := bufio.NewReaderSize(body, mostHead)
	head, err := in.ReadSlice('\n')
	p := &fleet.PushRequest{}
	if err == nil {
		err = decode(head, p)
	}
	if errors.Is(err, robotmem.Conflict) || errors.Is(err, robotmem.TooLarge) {
		return err
	}
	if err != nil || len(p.Memories) != 1 || p.Memories[0].Payload == nil || p.Memories[0].Payload.Bytes < 0 {
		return robotmem.Errorf(robotmem.Invalid, "body",
			"must begin with a line of at most %d bytes that is the push of one memory with a payload", mostHead)
	}

	// The robot and its rights are checked before any byte of the payload is read.
	if err := requireRobot(ctx, p.Robot); err != nil {
		return err
	}
	a, m := newArrival(ctx, p, &fleet.PushResponse{}), &p.Memories[0]
	fresh, err := a.admitPayload(ctx, node, m)
	if err != nil {
		return err
	}

	n, leave, err := node(ctx, fresh, m.Payload.Bytes)
	if err != nil {
		return err
	}
	defer leave()

	return a.attach(ctx, n, m, &exactly{Reader: in, left: m.Payload.Bytes})
}

// attach stores a memory with the bytes of its payload.
func (a *arrival) attach(ctx context.Context, n *local.Node, m *fleet.NumberedMemory, bytes *exactly) error {
	sum := m.Payload.SHA256
	_, err := engine.Of(n).Receive(ctx, &fleet.Entries{List: []*archive.Entry{
		{Memories: []archive.Memory{m.Memory}}, {Payload: &archive.Data{SHA256: sum, Bytes: m.Payload.Bytes, Reader: bytes}},
	}}, archive.ImportOptions{}, a)

	switch {
	case bytes.wrong != nil:
		return bytes.wrong
	case errors.Is(err, archive.ErrDamaged):
		return robotmem.Errorf(robotmem.Invalid, "payload", "has bytes of another SHA-256 than %.64s; send those of the memory", sum)
	case err != nil:
		return err
	case a.refused[m.UID]:
		return robotmem.Errorf(robotmem.Forbidden, "uid", "%s", a.ack.Refused[0].Reason)
	case !a.proven:
		return robotmem.Errorf(robotmem.Invalid, "payload", "is not stored: its memory was purged or evicted here, or has other bytes")
	}

	return nil
}

// admitPayload checks who sends a payload, and of which memory it is. fresh is the number of memories that the site does
// not have yet.
func (a *arrival) admitPayload(ctx context.Context, node Memories, m *fleet.NumberedMemory) (fresh int64, err error) {
	n, leave, err := node(ctx, 0, 0)
	if err != nil {
		return 0, err
	}
	defer leave()

	err = engine.Of(n).Store.Read(ctx, func(c *store.Conn) error {
		sender, err := readReplica(c, a.push.Replica)
		if err != nil {
			return err
		}

		switch {
		case sender == nil:
			return robotmem.Errorf(robotmem.Conflict, "replica", "is not known at this site; run robotmem fleet join again")
		case sender.robot != a.push.Robot:
			return robotmem.Errorf(robotmem.Forbidden, "replica",
				"is the memory of another robot; run robotmem fleet leave, then join again")
		}

		return nil
	})
	if err != nil {
		return 0, err
	}
	if err := a.admit(ctx, n, m); err != nil {
		return 0, err
	}

	err = engine.Of(n).Store.Read(ctx, func(c *store.Conn) error {
		known, err := c.ArchivedNamed(m.UID)
		if err != nil {
			return err
		}
		if err := a.mayStore(c, &m.Memory, known); err != nil {
			return err
		}
		if known == nil {
			fresh = 1
			return nil
		}
		if known.Payload != nil && known.Payload.SHA256 != m.Payload.SHA256 {
			return otherPayload()
		}

		return nil
	})

	return fresh, err
}

// exactly reads as many bytes as were announced, and notes if there are fewer or more.
type exactly struct {
	io.Reader
	left  int64
	wrong error
}

func (e *exactly) Read(p []byte) (int, error) {
	if e.wrong != nil {
		return 0, e.wrong
	}
	if e.left == 0 {
		n, err := e.Reader.Read(make([]byte, 1))
		if n > 0 {
			e.wrong = robotmem.Errorf(robotmem.Invalid, "payload", "has more bytes than its memory says")
			return 0, e.wrong
		}
		return 0, err
	}

	n, err := e.Reader.Read(p[:min(int64(len(p)), e.left)])
	if e.left -= int64(n); e.left > 0 && (err == io.EOF || errors.Is(err, io.ErrUnexpectedEOF)) {
		e.wrong = robotmem.Errorf(robotmem.Invalid, "payload", "lacks %d of its bytes; send it again", e.left)
		err = e.wrong
	}

	return n, err
}
