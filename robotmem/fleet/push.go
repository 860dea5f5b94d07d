package fleet

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/robotmem/robotmem-go/robotmem/archive"
	"github.com/robotmem/robotmem-go/robotmem/internal/store"
)

// Push sends the changes that the site does not have, oldest first.
func (r *Replicator) Push(ctx context.Context) error {
	// After a push that was not stored the changes are collected from another state. Once is enough for a restored
	// site or memory, and twice for a copied one.
	for again := 0; ; {
		err := r.pushNext(ctx)
		switch {
		case errors.Is(err, errAgain) && again < 3:
			again++
		case errors.Is(err, errNothing):
			return r.pushRefused(ctx)
		case err != nil:
			return err
		}
	}
}

// errNothing says that the site has all changes.
var errNothing = errors.New("there is nothing to send")

// pushNext sends the next changes.
func (r *Replicator) pushNext(ctx context.Context) error {
	p, ended, err := r.Changes(ctx, pushMemories)
	if err != nil {
		return err
	}
	if p == nil {
		return errNothing
	}
	// All these changes are copies of what came from the site. Only the counters move.
	if p.empty() {
		return r.sent(ctx, p, ended)
	}

	parts, aside, err := split(p)
	if err != nil {
		return err
	}
	if err := r.putNotes(ctx, kindRefused, aside); err != nil {
		return err
	}

	for _, part := range parts {
		if err := r.pushPart(ctx, part, false); err != nil {
			return err
		}
	}

	return r.sent(ctx, p, ended)
}

// pushPart sends a part of a push, with resent of one that holds what was refused before.
func (r *Replicator) pushPart(ctx context.Context, p part, resent bool) error {
	// The link is known here before the site has it: if the answer is lost, the site's link is found among these.
	err := r.node.Store.Write(ctx, func(tx *store.Tx) error {
		before, err := tx.Counter(sentCounter)
		if err != nil {
			return err
		}
		return tx.Exec(store.PutFleetLink, []byte(p.Link), max(before, p.Upto), resent)
	})
	if err != nil {
		return err
	}

	ack := &PushResponse{}
	if err := r.send(ctx, "push", p.body, ack); err != nil {
		return err
	}

	switch {
	case ack.State == StateCloned:
		return cmp.Or(r.fork(ctx, cloneNote), errAgain)
	case ack.State == StateDiverged:
		return cmp.Or(r.follow(ctx, ack.Link, nil, ack.Upto), errAgain)
	// A proxy may answer in place of the site. Changes that have not arrived must not count as sent.
	case ack.Upto != p.Upto:
		return r.notASite("it acknowledges another push than was sent")
	}

	return r.acknowledged(ctx, p.PushRequest, ack)
}

// acknowledged stores that a push has arrived, and what the site said of it.
func (r *Replicator) acknowledged(ctx context.Context, p *PushRequest, ack *PushResponse) error {
	for _, c := range ack.Conflicts {
		r.log.Warn("conflict with the site", "uid", c.UID, "reason", c.Reason)
	}

	refused := map[string]bool{}
	for _, c := range ack.Refused {
		refused[c.UID] = true
		r.log.Warn("refused by the site", "uid", c.UID, "reason", c.Reason)
	}
	if err := errors.Join(r.putNotes(ctx, kindConflict, ack.Conflicts), r.putNotes(ctx, kindRefused, ack.Refused)); err != nil {
		return err
	}

	r.mu.Lock()
	r.status.Sent += int64(len(p.Memories))
	r.mu.Unlock()

	// After a crash before this point the same changes are sent again, and the site stores them once.
	return r.node.Store.Write(ctx, func(tx *store.Tx) error {
		row, err := linkNamed(tx.Conn, p.Link)
		if err != nil {
			return err
		}
		if err := confirm(tx, row.seq); err != nil {
			return err
		}

		for i := range p.Memories {
			m := &p.Memories[i]
			if refused[m.UID] {
				continue
			}
			adopted := any(nil)
			if m.Adopted {
				adopted = StateOf(&m.Memory)
			}
			err := errors.Join(tx.Exec(store.PutFleetSent, m.UID, m.Version, adopted), tx.Exec(store.DeleteFleetNote, kindRefused, m.UID))
			if err != nil {
				return err
			}
		}

		for _, uid := range p.Purged {
			if refused[uid] {
				continue
			}
			if err := tx.Exec(store.DeleteFleetNote, kindRefused, uid); err != nil {
				return err
			}
		}

		return nil
	})
}

// sent stores how far the site is.
func (r *Replicator) sent(ctx context.Context, p *PushRequest, ended int64) error {
	return r.node.Store.Write(ctx, func(tx *store.Tx) error {
		return errors.Join(tx.SetCounter(sentCounter, p.Upto), tx.SetCounter(endedCounter, ended))
	})
}

// refusedAgain is the time after which what the site has refused is sent again. It is also sent at each start.
const refusedAgain = 10 * time.Minute

// pushRefused sends again what the site has refused: the token may have got more rights, or the quota room.
func (r *Replicator) pushRefused(ctx context.Context) error {
	if time.Since(r.refusedSent) < refusedAgain {
		return nil
	}
	r.refusedSent = time.Now()

	p := &PushRequest{}
	err := r.node.Store.Read(ctx, func(c *store.Conn) error {
		refused, err := notesBy(c, store.FleetNotesOldest, kindRefused, resent)
		if err != nil {
			return err
		}

		for _, n := range refused {
			m, err := c.ArchivedNamed(n.UID)
			if err != nil {
				return err
			}
			if m == nil {
				purged, err := c.Purged(n.UID)
				if err != nil {
					return err
				}
				if purged {
					p.Purged = append(p.Purged, n.UID)
				}
				continue
			}
			if m.Damaged || m.Extra.Tool == Tool {
				continue
			}
			counter, err := c.Number(store.RevisionByUID, n.UID)
			if err != nil {
				return err
			}
			if m.Session != "" {
				if err := addSession(c, p, m.Session); err != nil {
					return err
				}
			}
			p.Memories = append(p.Memories, NumberedMemory{Counter: counter, Memory: m.Memory})
		}

		return r.address(c, p)
	})
	if err != nil || p.empty() {
		return err
	}

	parts, _, err := split(p)
	if err != nil {
		return err
	}

	for _, part := range parts {
		if err := r.pushPart(ctx, part, true); err != nil {
			return err
		}
	}

	return nil
}

// address fills in who sends a push, and which one it follows.
func (r *Replicator) address(c *store.Conn, p *PushRequest) (err error) {
	p.Protocol, p.Replica, p.Robot, p.Link = Protocol, r.Peer.Replica, r.Peer.Robot, newLink()
	p.Prev, err = lastLink(c)
	return err
}

// Changes collects the next changes, nil if there are none. What came from the site is left out.
func (r *Replicator) Changes(ctx context.Context, most int64) (p *PushRequest, ended int64, err error) {
	p = &PushRequest{}
	empty := false
	err = r.node.Store.Read(ctx, func(c *store.Conn) error {
		after, err := c.Counter(sentCounter)
		if err != nil {
			return err
		}

		last, err := c.Changes()
		if err != nil {
			return err
		}

		done, err := c.Counter(endedCounter)
		if err != nil {
			return err
		}
		if empty = last <= after; empty {
			return nil
		}
		if err := r.address(c, p); err != nil {
			return err
		}

		if err := r.memories(c, p, after, last, most); err != nil {
			return err
		}

		// The end of a session changes no memory, so the audit log shows it.
		finished, upto, err := c.EndedSince(done)
		if err != nil {
			return err
		}
		ended = upto

		for _, id := range finished {
			if err := addSession(c, p, id); err != nil {
				return err
			}
		}

		if p.Links, err = c.SupersededBetween(after, p.Upto); err != nil {
			return err
		}
		if p.Purged, err = c.PurgedBetween(after, p.Upto); err != nil {
			return err
		}

		return credits(c, p, finished)
	})
	if err != nil || empty {
		return nil, 0, err
	}

	return p, ended, nil
}

// memories adds the memories that changed after a number to a push, at most most, each with the past states that the
// site does not have.
func (r *Replicator) memories(c *store.Conn, p *PushRequest, after, last, most int64) error {
	rows := int64(0)
	err := c.EachArchivedSince(after, most, func(a *store.Archived, revision int64) error {
		rows++
		p.Upto = revision

		// Copies of the site's facts are not sent back.
		if a.Damaged || a.Extra.Tool == Tool {
			return nil
		}
		if a.Session != "" {
			if err := addSession(c, p, a.Session); err != nil {
				return err
			}
		}

		acknowledged, adopted := int64(0), []byte(nil)
		_, err := c.One(store.FleetSent, []any{a.UID}, func(s store.Row) { acknowledged, adopted = s.ColumnInt64(0), s.ColumnBlob(1, nil) })
		if err != nil {
			return err
		}
		a.Versions = slices.DeleteFunc(a.Versions, func(v archive.Version) bool { return v.Version < acknowledged })
		p.Memories = append(p.Memories, NumberedMemory{revision, bytes.Equal(adopted, StateOf(&a.Memory)), a.Memory})

		return nil
	})

	// The last changes may have left no row, for example those of a purge.
	if rows < most { // all
		p.Upto = max(p.Upto, last)
	}

	return err
}

// addSession adds an episode to a push, once.
func addSession(c *store.Conn, p *PushRequest, id string) error {
	if slices.ContainsFunc(p.Sessions, func(s archive.Session) bool { return s.SessionID == id }) {
		return nil
	}
	return c.EachArchivedSession("", id,
		func(s *archive.Session) error { p.Sessions = append(p.Sessions, *s); return nil })
}

// credits adds what ended episodes say of the memories of other robots that they have used.
func credits(c *store.Conn, p *PushRequest, ended []string) error {
	for _, id := range ended {
		err := c.Query(store.CopiesCredited, []any{id, Tool}, func(s store.Row) error {
			p.Credits = append(p.Credits, Credit{UID: s.ColumnText(0), SessionID: id, Helped: s.ColumnFloat(1)})
			return nil
		})
		if err != nil {
			return err
		}
	}

	return nil
}

// Status counts what a replicator has done and what waits.
type Status struct {
	Site      string     `json:"site"`
	Robot     string     `json:"robot"`
	Waiting   int64      `json:"waiting"`           // Changes that are not sent yet
	Metered   bool       `json:"metered,omitempty"` // payloads wait for a link that is not metered
	Sent      int64      `json:"sent"`              // memories, by this process
	Received  int64      `json:"received"`
	Last      time.Time  `json:"last,omitzero"` // when the site answered
	Error     string     `json:"error,omitempty"`
	Conflicts []SyncNote `json:"conflicts,omitempty"` // open ones
	Refused   []SyncNote `json:"refused,omitempty"`   // by the site, or too large for it; they are sent again
	Identity  []SyncNote `json:"identity,omitempty"`  // that the file was restored or copied
}

// Status returns what was done.
func (r *Replicator) Status(ctx context.Context) (Status, error) {
	r.mu.Lock()
	s := r.status
	r.mu.Unlock()
	err := r.node.Store.Read(ctx, func(c *store.Conn) error {
		last, err := c.Changes()
		if err != nil {
			return err
		}
		sent, err := c.Counter(sentCounter)
		if err != nil {
			return err
		}
		s.Waiting = max(0, last-sent)

		for kind, to := range map[string]*[]SyncNote{kindConflict: &s.Conflicts, kindRefused: &s.Refused, kindIdentity: &s.Identity} {
			if *to, err = notes(c, kind, shownNotes); err != nil {
				return err
			}
		}
		payloads, err := notes(c, kindPayload, shownNotes)
		s.Refused = append(s.Refused, payloads...)

		return err
	})

	return s, err
}
