package fleet

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/archive"
	"github.com/robotmem/robotmem-go/robotmem/internal/filter"
	"github.com/robotmem/robotmem-go/robotmem/internal/store"
)

// Tool names the program that stored a memory which came from the site.
const Tool = robotmem.ToolFleet

// mostEntry bounds a line of a chunk: a memory with its context and texts.
const mostEntry = 4 << 20

// mostStale bounds how often chunks are asked for again in a pull.
const mostStale = 10

// Pull applies what is new in the feeds of the site: changes that others made to this robot's memories, and copies of
// what others learnt.
func (r *Replicator) Pull(ctx context.Context) error {
	r.news = 0

	for stale := 0; ; {
		req, err := r.question(ctx)
		if err != nil {
			return err
		}
		w := &PullResponse{}
		if err := r.ask(ctx, "pull", req, w); err != nil {
			return err
		}
		if err := errors.Join(r.noteClone(ctx, w.Cloned), r.settled(ctx, w.Conflicts)); err != nil {
			return err
		}

		for i := range w.Feeds {
			err := r.read(ctx, &w.Feeds[i])
			// A purge has changed the chunks after they were named.
			if errors.Is(err, robotmem.NotFound) && stale < mostStale {
				stale++
				w.More = true
				break
			}
			if err != nil {
				return err
			}
		}
		if !w.More {
			return r.bound(ctx)
		}
	}
}

// question collects where this memory is in the feeds that it reads.
func (r *Replicator) question(ctx context.Context) (*PullRequest, error) {
	req := &PullRequest{Protocol: Protocol, Replica: r.Peer.Replica, Robot: r.Peer.Robot, Cursors: map[string]Cursor{}}
	narrowed := false

	for _, s := range r.Peer.Subscribe {
		req.Subscribe = append(req.Subscribe, s.Collection)
		narrowed = narrowed || len(s.Where) > 0
	}
	// Among the newest facts of a collection may be few that a condition admits.
	if !narrowed {
		req.Newest = int64(r.Peer.Limit)
	}

	err := r.node.Store.Read(ctx, func(c *store.Conn) error {
		err := c.Query(store.FleetFeeds, nil, func(s store.Row) error {
			req.Cursors[s.ColumnText(0)] = Cursor{s.ColumnInt64(1), s.ColumnText(2)}
			return nil
		})
		if err != nil {
			return err
		}

		last, err := c.Changes()
		if err != nil {
			return err
		}
		sent, err := c.Counter(sentCounter)
		req.Waiting = max(0, last-sent)
		if err == nil {
			req.Refused, err = c.Number(store.CountFleetNotes, kindRefused)
		}

		return err
	})

	return req, err
}

// settled brings the notes of conflicts up to date: with those that are open at the site.
func (r *Replicator) settled(ctx context.Context, open []string) error {
	var ended []string
	missing := slices.Clone(open)
	err := r.node.Store.Read(ctx, func(c *store.Conn) error {
		noted, err := notes(c, kindConflict, allNotes)
		for _, n := range noted {
			if !slices.Contains(open, n.UID) {
				ended = append(ended, n.UID)
			}
			missing = slices.DeleteFunc(missing, func(uid string) bool { return uid == n.UID })
		}

		return err
	})
	if err != nil {
		return err
	}

	// The answer that named the conflict may have been lost.
	added := make([]SyncNote, len(missing))
	for i, uid := range missing {
		added[i] = SyncNote{uid, "it was changed here and at the site; the state of the site stays, and this one is in its history"}
	}
	if err := r.putNotes(ctx, kindConflict, added); err != nil || len(ended) == 0 {
		return err
	}

	return r.node.Store.Write(ctx, func(tx *store.Tx) error {
		for _, uid := range ended {
			if err := tx.Exec(store.DeleteFleetNote, kindConflict, uid); err != nil {
				return err
			}
		}
		return nil
	})
}

// read applies the news of a feed.
func (r *Replicator) read(ctx context.Context, w *News) error {
	if w.Refused != "" {
		r.log.Warn("a collection is not read", "collection", w.Feed, "reason", w.Refused)
		return nil
	}
	own := w.Feed == OwnFeed(r.Peer.Robot)
	if w.Restart {
		// Copies that are not found again have left the site, or are older than those that are kept.
		err := r.node.Store.Write(ctx, func(tx *store.Tx) error {
			return errors.Join(tx.Exec(store.DeleteFleetCopiesOf, w.Feed), tx.Exec(store.PutFleetFeed, w.Feed, w.After, "", true))
		})
		if err != nil {
			return err
		}
	}

	for _, chunk := range w.Chunks {
		entries, err := r.chunk(ctx, w, chunk)
		if err != nil {
			return err
		}
		if err := r.apply(ctx, w.Feed, own, entries); err != nil {
			return err
		}

		// The cursor moves after its changes. After a crash in between they are applied again, which changes nothing.
		err = r.node.Store.Write(ctx, func(tx *store.Tx) error {
			restarting := false
			_, err := tx.One(store.FleetFeed, []any{w.Feed}, func(s store.Row) { restarting = s.ColumnBool(2) })
			return errors.Join(err, tx.Exec(store.PutFleetFeed, w.Feed, chunk.Last, chunk.Mark, restarting))
		})
		if err != nil {
			return err
		}
	}

	if w.End {
		return r.readToEnd(ctx, w.Feed)
	}

	return nil
}

// readToEnd forgets the copies of a feed that was read anew and does not have them any more.
func (r *Replicator) readToEnd(ctx context.Context, feed string) error {
	restarting, at := false, Cursor{}

	var gone []int64
	err := r.node.Store.Read(ctx, func(c *store.Conn) error {
		_, err := c.One(store.FleetFeed, []any{feed}, func(s store.Row) {
			at, restarting = Cursor{s.ColumnInt64(0), s.ColumnText(1)}, s.ColumnBool(2)
		})
		if err != nil || !restarting {
			return err
		}

		return c.Query(store.FleetCopiesUnseen, []any{Tool, feed}, func(s store.Row) error {
			gone = append(gone, s.ColumnInt64(0))
			return nil
		})
	})
	if err != nil || !restarting {
		return err
	}
	if err := r.drop(ctx, gone, "the site does not have it any more, or it is older than the facts of other robots that are kept"); err != nil {
		return err
	}

	return r.node.Store.Write(ctx, func(tx *store.Tx) error {
		return tx.Exec(store.PutFleetFeed, feed, at.Number, at.Mark, false)
	})
}

// drop forgets copies.
func (r *Replicator) drop(ctx context.Context, ids []int64, why string) error {
	for batch := range slices.Chunk(ids, dropBatch) {
		err := r.node.Store.Write(ctx, func(tx *store.Tx) error {
			_, err := forgetCopies(tx, batch, why)
			return err
		})
		if err != nil {
			return err
		}
	}

	return nil
}

// chunk fetches the changes of a chunk.
func (r *Replicator) chunk(ctx context.Context, w *News, chunk Chunk) (entries []Entry, err error) {
	ctx, cancel := context.WithTimeout(ctx, requestTime)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, r.Peer.URL+chunk.Path(w.Feed, w.Generation), http.NoBody)
	if err != nil {
		return nil, err
	}

	body, err := r.answer(req)
	if err != nil {
		return nil, err
	}

	lines := bufio.NewScanner(bytes.NewReader(body))
	lines.Buffer(nil, mostEntry)

	for lines.Scan() {
		e := Entry{}
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil || e.UID == "" {
			return nil, r.notASite("a chunk of its feed cannot be read")
		}
		// The last line says that the chunk is whole.
		if e.UID == EndOfChunk {
			if e.Number != chunk.Last {
				break
			}
			return entries, nil
		}
		entries = append(entries, e)
		if e.Number > w.After {
			r.news++
		}
	}

	return nil, r.notASite("a chunk of its feed ends early")
}

// apply applies the changes of a chunk.
func (r *Replicator) apply(ctx context.Context, feed string, own bool, entries []Entry) error {
	conditions, err := r.conditions(feed)
	if err != nil {
		return err
	}

	var list []archive.Memory
	left := map[string]bool{}

	for i := range entries {
		e := &entries[i]
		switch {
		case e.Change == Purged:
			if err := r.purge(ctx, e.UID); err != nil {
				return err
			}
		case e.Change == Left || !own && !admitted(conditions, e.Memory):
			left[e.UID] = true
		case e.Memory != nil:
			m := *e.Memory
			if !own {
				m.Confidence *= r.Peer.trusted(&m)
				// The mark keeps Push from sending the copy back.
				m.Extra.Tool, m.Pinned = Tool, false
			}
			m.Where = m.UID
			list = append(list, m)
		}
	}

	if err := r.leave(ctx, left); err != nil || len(list) == 0 {
		return err
	}

	decide := &decisions{feed: feed, own: own}
	_, err = r.node.Receive(ctx, &Entries{[]*archive.Entry{{Memories: list}}}, archive.ImportOptions{Refused: func(uid string, err error) {
		r.log.Warn("a change of the site is not kept", "uid", uid, "err", err)
	}}, decide)
	if err == nil {
		r.mu.Lock()
		r.status.Received += int64(len(list))
		r.mu.Unlock()
	}

	return err
}

// conditions returns the conditions of the subscriptions to a collection; a nil one admits all.
func (r *Replicator) conditions(feed string) (list []*filter.Condition, err error) {
	for _, s := range r.Peer.Subscribe {
		if s.Collection != "*" && s.Collection != feed {
			continue
		}
		c, err := filter.Parse(s.Where)
		if err != nil {
			return nil, err
		}
		list = append(list, c)
	}

	return list, nil
}

// admitted reports whether a copy of a memory is kept. One that is not active stays, as such, if there is a copy.
func admitted(conditions []*filter.Condition, m *archive.Memory) bool {
	return m == nil || m.Status != "active" ||
		slices.ContainsFunc(conditions, func(c *filter.Condition) bool { return c == nil || c.Match(viewOf(m)) })
}

// viewOf returns the fields of a memory that filters read.
func viewOf(m *archive.Memory) *filter.View {
	outcome := m.Extra.Outcome
	if outcome == "" {
		outcome = robotmem.OutcomeUnknown
	}

	return &filter.View{Memory: &robotmem.Memory{
		Context: robotmem.ParseObject(string(m.Context)), Category: m.Category, PerceptionType: m.PerceptionType,
		SessionID: m.Session, Confidence: m.Confidence, ObservedAt: store.ParseTime(m.ObservedAt), Outcome: outcome,
	}}
}

// leave forgets the copies of memories that have left what is subscribed to.
func (r *Replicator) leave(ctx context.Context, uids map[string]bool) error {
	var ids []int64
	err := r.node.Store.Read(ctx, func(c *store.Conn) error {
		for uid := range uids {
			m, err := c.ArchivedNamed(uid)
			if err != nil {
				return err
			}
			if m != nil && m.Extra.Tool == Tool && m.Status == "active" {
				ids = append(ids, m.ID)
			}
		}

		return nil
	})
	if err != nil {
		return err
	}

	return r.drop(ctx, ids, "it is not among what this robot keeps of others any more")
}

// purge purges a memory that was purged at the site.
func (r *Replicator) purge(ctx context.Context, uid string) error {
	id := int64(0)
	err := r.node.Store.Read(ctx, func(c *store.Conn) (err error) { id, err = c.IDOf(uid); return err })
	if err != nil || id == 0 {
		return err
	}

	_, err = r.node.Forget(ctx, &robotmem.ForgetRequest{MemoryID: id, Purge: true, Reason: "purged at the site"})
	if errors.Is(err, robotmem.NotFound) {
		return nil
	}
	if err != nil {
		return err
	}

	return r.node.Store.Write(ctx, func(tx *store.Tx) error {
		return errors.Join(tx.Exec(store.DeleteFleetCopy, uid), tx.Exec(store.DeleteFleetNote, kindConflict, uid),
			tx.Exec(store.DeleteFleetNote, kindRefused, uid))
	})
}

// decisions stores what came from the site.
type decisions struct {
	feed string
	own  bool // the feed of what others did to this robot's memories
}

// Decide implements engine.Sync.
func (d *decisions) Decide(
	tx *store.Tx, r *store.ImportRecord, known *store.Archived, v store.Decision,
) (store.Decision, error) {
	switch {
	case v == store.ImportPurged:
		return v, nil
	case d.own:
		return d.decideOwn(tx, r, known)
	// A fact that is not active at the site and unknown here needs no copy.
	case known == nil && r.Status != "active":
		return store.ImportPurged, nil
	case known == nil:
		return store.ImportCreate, nil
	case known.Extra.Tool != Tool: // its own
		return store.ImportKeep, nil
	case bytes.Equal(StateOf(r.Memory), StateOf(&known.Memory)):
		return store.ImportSame, nil
	}

	return store.ImportReplace, nil
}

// decideOwn decides what becomes of a change that others made to a memory of this robot.
func (d *decisions) decideOwn(tx *store.Tx, r *store.ImportRecord, known *store.Archived) (store.Decision, error) {
	if known == nil || known.Extra.Tool == Tool {
		return store.ImportPurged, nil
	}

	// What only this robot says of its memory stays.
	r.Pinned, r.Source, r.Session, r.Payload = known.Pinned, known.Source, known.Session, known.Payload
	r.Extra.Tool, r.Extra.Who = known.Extra.Tool, known.Extra.Who
	if bytes.Equal(StateOf(r.Memory), StateOf(&known.Memory)) {
		return store.ImportKeep, nil
	}

	// A change that the site has not heard of yet must not be lost. The site compares it with its own state, and tells
	// this robot again what it kept.
	revision, err := tx.Number(store.RevisionByUID, r.UID)
	if err != nil {
		return store.ImportKeep, err
	}
	sent, err := tx.Counter(sentCounter)
	if err != nil || revision > sent {
		return store.ImportKeep, err
	}

	return store.ImportReplace, nil
}

// Stored implements engine.Sync.
func (d *decisions) Stored(tx *store.Tx, r *store.ImportRecord, id int64, v store.Decision) error {
	if d.own && v == store.ImportReplace {
		return tx.Exec(store.AdoptFleetState, r.UID, StateOf(r.Memory))
	}
	if d.own || id == 0 || v == store.ImportKeep || v == store.ImportPurged {
		return nil
	}
	if r.Status != "active" {
		return tx.Exec(store.DeleteFleetCopy, r.UID)
	}

	return tx.Exec(store.PutFleetCopy, r.UID, d.feed)
}

// ReadAnew makes the next Pull read all feeds from their beginning, as after a change of what is subscribed to.
func (r *Replicator) ReadAnew(ctx context.Context) error {
	return r.node.Store.Write(ctx, func(tx *store.Tx) error { return tx.Exec(store.DeleteFleetFeeds) })
}

// bound forgets the copies of collections that are not subscribed to any more, and the oldest over the limit in the order
// of the site.
func (r *Replicator) bound(ctx context.Context) error {
	if err := r.unsubscribed(ctx); err != nil {
		return err
	}

	var ids []int64
	err := r.node.Store.Read(ctx, func(c *store.Conn) error {
		return c.Query(store.FleetMemoriesBeyond, []any{Tool, r.Peer.Limit}, func(s store.Row) error {
			ids = append(ids, s.ColumnInt64(0))
			return nil
		})
	})
	if err != nil {
		return err
	}

	return r.drop(ctx, ids, "older than the facts of other robots that are kept")
}

// unsubscribed forgets the copies of collections that are not subscribed to.
func (r *Replicator) unsubscribed(ctx context.Context) error {
	names := []string{}

	for _, s := range r.Peer.Subscribe {
		if s.Collection == robotmem.AllCollections {
			return nil
		}
		names = append(names, s.Collection)
	}
	list, err := json.Marshal(names)
	if err != nil {
		return err
	}

	var ids []int64
	err = r.node.Store.Read(ctx, func(c *store.Conn) error {
		return c.Query(store.FleetCopiesElsewhere, []any{Tool, string(list)}, func(s store.Row) error {
			ids = append(ids, s.ColumnInt64(0))
			return nil
		})
	})
	if err != nil {
		return err
	}

	return r.drop(ctx, ids, "this robot does not keep the facts of that collection any more")
}

// answer returns the body of an answer.
func (r *Replicator) answer(req *http.Request) ([]byte, error) {
	res, err := r.respond(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()

	body, err := io.ReadAll(io.LimitReader(res.Body, MaxAnswer))
	if err != nil {
		return nil, robotmem.Errorf(robotmem.Unavailable, "fleet", "the answer of the site at %s ended early (%s)",
			r.Peer.URL, robotmem.Reason(err))
	}

	return body, nil
}
