package fleet

import (
	"bytes"
	"context"
	"errors"
	"time"

	"github.com/google/uuid"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/store"
)

// A robot and its site each keep the link of the last push that they agreed on. Who finds another one than its own
// knows that they do not continue from one state:
//
//   - The site has an older link of this memory: it was restored from a backup. All changes since are sent again.
//   - The site has a link that this memory does not know: this file is a backup, or a copy of a memory that has gone
//     on. It becomes another replica, and all it has is compared with what the site has.
//   - The site has seen another memory take this one's place while this one goes on: the card was copied. Both become
//     other replicas, and both sides say so.

// errAgain says that a push was not stored, and is collected anew.
var errAgain = errors.New("the site does not continue from the state of this memory")

// Greet tells the site who sends, and finds out from which state both continue.
func (r *Replicator) Greet(ctx context.Context, replace bool) error {
	id, err := r.node.Store.FileID(ctx)
	if err != nil {
		return err
	}

	w := &HelloResponse{}
	err = r.ask(ctx, "hello", &HelloRequest{
		Protocol: Protocol, Version: r.Version, Replica: r.Peer.Replica, Robot: r.Peer.Robot, FileID: id,
		Before: r.Peer.Before, Replace: replace || r.Peer.Replacing, Clock: r.node.Now(),
	}, w)
	if err != nil {
		return err
	}
	if w.Protocol != Protocol {
		return robotmem.Errorf(robotmem.Conflict, "fleet", "the site speaks version %d of the protocol, and this program version %d; install the same version of robotmem on both", w.Protocol, Protocol)
	}
	if w.State == StateCloned {
		return r.fork(ctx, cloneNote)
	}
	if r.Peer.Replacing {
		r.Peer.Replacing = false
		if err := r.Peer.save(r.node); err != nil {
			return err
		}
	}

	return errors.Join(r.noteClone(ctx, w.Cloned), r.follow(ctx, w.Link, w.Claim, w.Upto))
}

// follow continues from the push that the site has stored last.
func (r *Replicator) follow(ctx context.Context, link, claim Link, upto int64) error {
	var (
		own  Link
		last int64
		at   linkRow
		half linkRow // of the push that has not come to its end
	)
	err := r.node.Store.Read(ctx, func(c *store.Conn) (err error) {
		if own, err = lastLink(c); err == nil {
			at, err = linkNamed(c, link)
		}
		if err == nil {
			half, err = linkNamed(c, claim)
		}
		if err == nil {
			last, err = c.Changes()
		}

		return err
	})
	if err != nil {
		return err
	}

	switch {
	case bytes.Equal(own, link) && len(link) == 0 && last < upto:
		// A robot that has joined with an earlier version has no links yet. Its numbers alone tell a backup.
		return r.fork(ctx, backupNote)
	// A part of a push is stored that this memory does not know to have sent.
	case bytes.Equal(own, link) && len(claim) > 0 && half.seq == 0:
		return r.fork(ctx, backupNote)
	case bytes.Equal(own, link):
		return nil
	case len(link) == 0:
		r.log.Warn("the site has lost what this memory has sent, as after the restore of a backup: all is sent again")
		return r.Reset(ctx)
	case at.seq == 0:
		return r.fork(ctx, backupNote)
	case !at.confirmed:
		// The answer was lost, and with it what the site has refused: the same changes are sent again, behind it.
		return r.node.Store.Write(ctx, func(tx *store.Tx) error { return confirm(tx, at.seq) })
	}

	r.log.Warn("the site is older than what this memory has sent, as after the restore of a backup: what it lacks is sent again")

	return r.node.Store.Write(ctx, func(tx *store.Tx) error {
		// What had been refused at first was sent later than its number says.
		resent, err := tx.Number(store.CountFleetLinksResent, at.seq)
		if err != nil {
			return err
		}
		if resent > 0 {
			at.upto = 0
		}
		payloads, err := tx.Counter(payloadCounter)

		return errors.Join(err, confirm(tx, at.seq),
			tx.SetCounter(sentCounter, at.upto), tx.SetCounter(payloadCounter, min(at.upto, payloads)),
			tx.SetCounter(endedCounter, 0), tx.Exec(store.DeleteFleetSent))
	})
}

// linkRow is what this memory knows of a link.
type linkRow struct {
	seq, upto int64 // its place, 0 for an unknown one; the changes that the site had with it
	confirmed bool
}

func linkNamed(c *store.Conn, link Link) (row linkRow, err error) {
	_, err = c.One(store.FleetLinkNamed, []any{[]byte(link)},
		func(s store.Row) { row = linkRow{s.ColumnInt64(0), s.ColumnInt64(1), s.ColumnBool(2)} })

	return row, err
}

// confirm notes that the site has a link, and drops those that it never got.
func confirm(tx *store.Tx, seq int64) error {
	return errors.Join(tx.Exec(store.ConfirmFleetLink, seq), tx.Exec(store.DeleteFleetLinksAfter, seq))
}

// lastLink returns the link of the last push that the site has acknowledged, nil without one.
func lastLink(c *store.Conn) (link Link, err error) {
	_, err = c.One(store.FleetLink, nil, func(s store.Row) { link = s.ColumnBlob(0, nil) })
	return link, err
}

// The reasons of notes about the identity of this memory.
const (
	kindIdentity = "identity"
	backupNote   = "this file was restored from a backup, or is a copy of another: it goes on under a new identity at the site, and all it has was compared again"
	cloneNote    = "two memories have gone on from the same state, as after a card was copied: both send under new identities; to give each robot a name of its own, run robotmem fleet leave and join with --robot"
)

// mostBefore bounds the replicas that a memory remembers to have been.
const mostBefore = 50

// fork makes this memory another replica, and compares all it has with what the site has.
func (r *Replicator) fork(ctx context.Context, why string) error {
	r.log.Warn(why, "robot", r.Peer.Robot)

	// The counters come first: a new replica with the old ones would never send what they count as sent. After a
	// crash between the two, this begins anew.
	if err := r.Reset(ctx); err != nil {
		return err
	}
	// A site that is restored later may know an older one of them alone.
	before := append([]string{r.Peer.Replica}, r.Peer.Before...)
	r.Peer.Replica, r.Peer.Before = uuid.NewString(), before[:min(len(before), mostBefore)]
	if err := r.Peer.save(r.node); err != nil {
		return err
	}
	if err := r.putNotes(ctx, kindIdentity, []SyncNote{{r.Peer.Replica, why}}); err != nil {
		return err
	}

	return r.Greet(ctx, false)
}

// noteClone notes that another memory sends under the same name.
func (r *Replicator) noteClone(ctx context.Context, cloned bool) error {
	if !cloned {
		return nil
	}
	return r.putNotes(ctx, kindIdentity, []SyncNote{{r.Peer.Replica, cloneNote}})
}

// Reset makes the next Push send everything.
func (r *Replicator) Reset(ctx context.Context) error {
	return r.node.Store.Write(ctx, func(tx *store.Tx) error {
		return errors.Join(tx.SetCounter(sentCounter, 0), tx.SetCounter(payloadCounter, 0), tx.SetCounter(endedCounter, 0),
			tx.Exec(store.DeleteFleetLinksAfter, 0), tx.Exec(store.DeleteFleetSent))
	})
}

// The kinds of notes that are kept about memories.
const (
	kindConflict = "conflict"
	kindRefused  = "refused"
	kindPayload  = "payload" // refused; it is sent again after a join
)

// putNotes keeps notes beside the memory, so that each process shows them.
func (r *Replicator) putNotes(ctx context.Context, kind string, notes []SyncNote) error {
	if len(notes) == 0 {
		return nil
	}
	at := store.FormatTime(time.Now())

	return r.node.Store.Write(ctx, func(tx *store.Tx) error {
		for _, n := range notes {
			if err := tx.Exec(store.PutFleetNote, kind, n.UID, n.Reason, at); err != nil {
				return err
			}
		}
		return nil
	})
}

const (
	shownNotes = 100    // of a kind, in a status
	resent     = 500    // of what was refused, at once
	allNotes   = 10_000 // of a kind
)

// notes returns what is noted of a kind, newest first.
func notes(c *store.Conn, kind string, most int) ([]SyncNote, error) {
	return notesBy(c, store.FleetNotes, kind, most)
}

func notesBy(c *store.Conn, order store.Query, kind string, most int) (found []SyncNote, err error) {
	err = c.Query(order, []any{kind, most}, func(s store.Row) error {
		found = append(found, SyncNote{s.ColumnText(0), s.ColumnText(1)})
		return nil
	})

	return found, err
}
