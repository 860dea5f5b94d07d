package fleet

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/archive"
	"github.com/robotmem/robotmem-go/robotmem/internal/engine"
	"github.com/robotmem/robotmem-go/robotmem/internal/files"
	"github.com/robotmem/robotmem-go/robotmem/internal/outgoing"
	"github.com/robotmem/robotmem-go/robotmem/internal/store"
	"github.com/robotmem/robotmem-go/robotmem/internal/store/sqlite"
	"github.com/robotmem/robotmem-go/robotmem/local"
)

// Peer is the site that a robot's memory belongs to, kept in a file beside the memory.
type Peer struct {
	FileID    string             `json:"file_id,omitempty"` // of the memory's file; absent if an earlier version joined
	URL       string             `json:"url"`
	Token     string             `json:"token,omitempty"`
	Robot     string             `json:"robot"`
	Model     string             `json:"model,omitempty"` // of this robot, as in robot.model of a context
	Replica   string             `json:"replica"`
	Replacing bool               `json:"replacing,omitempty"` // the replica has not yet taken the name of the one before it
	Subscribe []Subscription     `json:"subscribe,omitempty"`
	Limit     int                `json:"limit,omitempty"`     // facts of others that are kept; 10,000 if zero
	Payloads  string             `json:"payloads,omitempty"`  // none, failures or all
	Bandwidth int64              `json:"bandwidth,omitempty"` // bytes of payloads a second, 0 for no limit
	Metered   string             `json:"metered,omitempty"`   // wait or send: what payloads do on a metered link
	Trust     map[string]float64 `json:"trust,omitempty"`     // factors of the confidence of others' facts; see trusted
}

// Payload policies.
const (
	PayloadsNone     = "none"
	PayloadsFailures = "failures"
	PayloadsAll      = "all"
)

// PeerOf returns the site that a memory has joined, nil if it has joined none. It fails with Conflict if the
// site was joined by another file, of which this one is a copy: two robots must not be one replica.
func PeerOf(n *local.Node) (*Peer, error) {
	path := engine.Of(n).Store.Files().Site()
	data, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}

	p := &Peer{}
	if err == nil {
		err = json.Unmarshal(data, p)
	}
	if err != nil {
		return nil, robotmem.Errorf(robotmem.Unavailable, "fleet",
			"%s cannot be read (%v); run robotmem fleet join again", filepath.Base(path), err)
	}

	id, err := engine.Of(n).Store.FileID(context.Background())
	if err != nil {
		return nil, err
	}
	if p.FileID != "" && p.FileID != id {
		return nil, robotmem.Errorf(robotmem.Conflict, "fleet",
			"%s is of another file, from which this memory was copied or which it has replaced; nothing is sent or fetched; run robotmem fleet join %s to join as a robot of its own, or remove that file",
			filepath.Base(path), p.URL)
	}

	return p, nil
}

// Save stores the site of a memory. The file holds the token.
func (p *Peer) Save(n *local.Node) error { return p.save(engine.Of(n)) }

func (p *Peer) save(n *engine.Engine) (err error) {
	if p.FileID, err = n.Store.FileID(context.Background()); err != nil {
		return err
	}
	data, err := json.MarshalIndent(p, "", "  ")
	if err != nil {
		return err
	}
	path := n.Store.Files().Site()

	// A crash must not leave half a file, which would lose the token.
	part := files.Part(path)
	if err = os.WriteFile(part, append(data, '\n'), 0o600); err == nil {
		err = os.Rename(part, path)
	}
	if err != nil {
		return robotmem.Errorf(robotmem.Unavailable, "fleet", "the file of the site cannot be written (%s)",
			robotmem.Reason(err))
	}

	return nil
}

// Leave forgets the site of a memory.
func Leave(n *local.Node) error { return os.Remove(engine.Of(n).Store.Files().Site()) }

// The names of a robot's counters.
const (
	sentCounter     = "fleet_sent"     // Changes up to this number have arrived at the site
	payloadCounter  = "fleet_payloads" // and the payloads of those up to this number
	endedCounter    = "fleet_ended"    // and the ends of sessions up to this entry of the audit log
	receivedCounter = "fleet_received" // Changes of the site up to this number have arrived here
)

const (
	pushMemories  = 500
	firstPause    = time.Second
	longestPause  = time.Minute
	syncInterval  = 10 * time.Second
	requestTime   = time.Minute
	defaultCopies = 10_000
)

// Replicator sends what a robot's memory stores to its site, and keeps a copy of what others learnt.
// It reads what was committed and holds no lock of the memory while it waits for the site.
type Replicator struct {
	node *engine.Engine
	// Peer is the site. It may be changed while nothing is replicated.
	Peer Peer
	http *http.Client
	log  *slog.Logger
	link networkLink

	mu     sync.Mutex // guards status
	status Status
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
	Conflicts []SyncNote `json:"conflicts,omitempty"` // the last hundred
	Refused   []SyncNote `json:"refused,omitempty"`   // by the site, or too large for it
}

// NewReplicator returns the replicator of a memory. The peer must be complete.
func NewReplicator(n *local.Node, p Peer, client *http.Client, log *slog.Logger) *Replicator {
	p.Limit, p.Payloads = cmp.Or(p.Limit, defaultCopies), cmp.Or(p.Payloads, PayloadsNone)
	return &Replicator{
		node: engine.Of(n), Peer: p, http: outgoing.Client(client), log: cmp.Or(log, slog.New(slog.DiscardHandler)),
		status: Status{Site: p.URL, Robot: p.Robot},
	}
}

// Run replicates until ctx ends. If several processes have the memory open, one of them replicates.
func (r *Replicator) Run(ctx context.Context) {
	pause := firstPause
	greeted, pulled := false, time.Time{}

	for ctx.Err() == nil {
		more := false // payloads
		err := r.alone(func() (err error) {
			if !greeted {
				if err = r.Greet(ctx, false); err != nil {
					return err
				}
				greeted = true
			}
			if err = r.Push(ctx); err == nil && time.Since(pulled) >= syncInterval {
				pulled, err = time.Now(), r.Pull(ctx)
			}

			// One payload at a time, so that changes that are made meanwhile do not wait for all payloads.
			if err == nil {
				more, err = r.payloads(ctx, 1)
			}

			return err
		})
		wait := syncInterval
		if more {
			// The next round pushes what was stored meanwhile before it sends another payload.
			wait = 0
		}
		if err != nil && ctx.Err() == nil {
			if pause == firstPause {
				r.log.Warn("the site is not reached; changes wait", "site", r.Peer.URL, "err", err)
			}

			// The random part keeps the robots of a site from coming back all at once.
			wait = pause/2 + rand.N(pause)
			pause = min(2*pause, longestPause)
		} else {
			pause = firstPause
		}
		changed := r.node.Changed
		if err != nil {
			// A write does not make the site come back.
			changed = nil
		}

		select {
		case <-ctx.Done():
		case <-changed:
		case <-time.After(wait):
		}
	}
}

// Once sends and fetches what there is. It does nothing while another process replicates this memory.
func (r *Replicator) Once(ctx context.Context) error {
	return r.alone(func() error {
		err := r.Greet(ctx, false)
		if err == nil {
			err = r.Push(ctx)
		}
		if err == nil {
			err = r.Pull(ctx)
		}
		if err == nil {
			// The copies that Pull has stored are changes here too. This push sends none of them and moves the counter
			// past them.
			err = r.Push(ctx)
		}
		if err == nil {
			err = r.Payloads(ctx)
		}

		return err
	})
}

// alone runs f unless another process replicates this memory.
func (r *Replicator) alone(f func() error) error {
	unlock, err := sqlite.LockFile(r.node.Store.Files().SiteLock())
	if errors.Is(err, sqlite.ErrLocked) {
		return nil
	}
	if err != nil {
		return err
	}
	defer unlock()
	err = f()
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.status.Error = ""; err != nil {
		r.status.Error = err.Error()
	} else {
		r.status.Last = time.Now()
	}

	return err
}

// Status returns what was done.
func (r *Replicator) Status(ctx context.Context) (Status, error) {
	r.mu.Lock()
	s := r.status
	s.Conflicts, s.Refused = slices.Clone(s.Conflicts), slices.Clone(s.Refused)
	r.mu.Unlock()
	err := r.node.Store.Read(ctx, func(c *store.Conn) error {
		last, err := c.Changes()
		sent, serr := c.Counter(sentCounter)
		s.Waiting = max(0, last-sent)
		return errors.Join(err, serr)
	})

	return s, err
}

// Greet tells the site who sends. A memory that was restored from a backup numbers its changes anew,
// so it becomes another replica, and all it has is compared again.
func (r *Replicator) Greet(ctx context.Context, replace bool) error {
	w := &HelloResponse{}
	if err := r.ask(ctx, "hello", &HelloRequest{r.Peer.Replica, r.Peer.Robot, replace || r.Peer.Replacing}, w); err != nil {
		return err
	}
	if r.Peer.Replacing {
		r.Peer.Replacing = false
		if err := r.Peer.save(r.node); err != nil {
			return err
		}
	}

	last := int64(0)
	err := r.node.Store.Read(ctx, func(c *store.Conn) (err error) { last, err = c.Changes(); return err })
	if err != nil || last >= w.Upto {
		return err
	}

	r.log.Warn("this memory is older than what it has sent, as after the restore of a backup: all is compared again",
		"changes", last, "sent", w.Upto)
	// The counters come first: a new replica with the old ones would never send what they count as sent. After a
	// crash between the two, this begins anew.
	if err := r.Reset(ctx); err != nil {
		return err
	}
	// At the site the old replica holds the name of the robot. That the new one replaces it is saved with its id, so
	// that it is asked for again after a crash.
	r.Peer.Replica, r.Peer.Replacing = uuid.NewString(), true
	if err := r.Peer.save(r.node); err != nil {
		return err
	}

	return r.Greet(ctx, true)
}

// Reset makes the next Push send everything.
func (r *Replicator) Reset(ctx context.Context) error {
	return r.node.Store.Write(ctx, func(tx *store.Tx) error {
		return errors.Join(tx.SetCounter(sentCounter, 0), tx.SetCounter(payloadCounter, 0),
			tx.SetCounter(endedCounter, 0), tx.SetCounter(receivedCounter, 0))
	})
}

// Push sends the changes that the site does not have, oldest first.
func (r *Replicator) Push(ctx context.Context) error {
	for {
		p, ended, err := r.Changes(ctx, pushMemories)
		if err != nil || p == nil {
			return err
		}
		// All these changes are copies of what came from the site. Only the counters move.
		if p.empty() {
			if err := r.sent(ctx, p.Upto, ended); err != nil {
				return err
			}
			continue
		}

		parts, aside, err := split(p)
		if err != nil {
			return err
		}
		r.note(&PushRequest{}, &PushResponse{Refused: aside})

		for i, part := range parts {
			if i < len(parts)-1 {
				err = r.pushPart(ctx, part, 0)
			} else {
				err = r.pushPart(ctx, part, p.Upto)
			}
			if err != nil {
				return err
			}
		}

		// After a crash before this point the same changes are sent again, and the site stores them once.
		if err := r.sent(ctx, p.Upto, ended); err != nil {
			return err
		}
	}
}

// pushPart sends a part of a push, with the number up to which the site has all changes then, 0 for as before.
func (r *Replicator) pushPart(ctx context.Context, p part, upto int64) error {
	body := p.body
	if p.Upto != upto {
		one := *p.PushRequest
		one.Upto = upto

		var err error
		if body, _, err = packed(&one); err != nil {
			return err
		}
	}

	ack := &PushResponse{}
	if err := r.send(ctx, "push", body, ack); err != nil {
		return err
	}

	// A proxy may answer in place of the site. Changes that have not arrived must not count as sent.
	if ack.Upto != upto {
		return r.notASite("it acknowledges another push than was sent")
	}
	r.note(p.PushRequest, ack)

	return nil
}

// sent stores how far the site is.
func (r *Replicator) sent(ctx context.Context, upto, ended int64) error {
	return r.node.Store.Write(ctx, func(tx *store.Tx) error {
		return errors.Join(tx.SetCounter(sentCounter, upto), tx.SetCounter(endedCounter, ended))
	})
}

func (r *Replicator) note(p *PushRequest, ack *PushResponse) {
	for _, c := range ack.Conflicts {
		r.log.Warn("conflict with the site", "uid", c.UID, "reason", c.Reason)
	}

	for _, c := range ack.Refused {
		r.log.Warn("refused by the site", "uid", c.UID, "reason", c.Reason)
	}
	last := func(notes []SyncNote) []SyncNote { return notes[max(0, len(notes)-100):] }
	r.mu.Lock()
	defer r.mu.Unlock()
	r.status.Sent += int64(len(p.Memories))
	r.status.Conflicts = last(append(r.status.Conflicts, ack.Conflicts...))
	r.status.Refused = last(append(r.status.Refused, ack.Refused...))
}

// Changes collects the next changes, nil if there are none. What came from the site is left out.
func (r *Replicator) Changes(ctx context.Context, most int64) (p *PushRequest, ended int64, err error) {
	p = &PushRequest{Replica: r.Peer.Replica, Robot: r.Peer.Robot}
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

		rows, sessions := int64(0), []string{}
		err = c.EachArchivedSince(after, most, func(a *store.Archived, revision int64) error {
			rows++
			p.Upto = revision

			// Copies of the site's facts are not sent back.
			if a.Damaged || a.Extra.Tool == Tool {
				return nil
			}
			if a.Session != "" && !slices.Contains(sessions, a.Session) {
				sessions = append(sessions, a.Session)
			}
			p.Memories = append(p.Memories, NumberedMemory{revision, a.Memory})

			return nil
		})
		if err != nil {
			return err
		}

		// The last changes may have left no row, for example those of a purge.
		if rows < most { // all
			p.Upto = max(p.Upto, last)
		}

		// The end of a session changes no memory, so the audit log shows it.
		finished, upto, err := c.EndedSince(done)
		if err != nil {
			return err
		}

		ended = upto

		for _, id := range finished {
			if !slices.Contains(sessions, id) {
				sessions = append(sessions, id)
			}
		}

		for _, id := range sessions {
			if err := c.EachArchivedSession("", id,
				func(s *archive.Session) error { p.Sessions = append(p.Sessions, *s); return nil }); err != nil {
				return err
			}
		}

		if p.Links, err = c.SupersededBetween(after, p.Upto); err != nil {
			return err
		}

		p.Purged, err = c.PurgedBetween(after, p.Upto)

		return err
	})
	if err != nil || empty {
		return nil, 0, err
	}

	return p, ended, nil
}

// Tool names the program that stored a memory which came from the site.
const Tool = "fleet"

// Pull brings the copy of what others learnt up to date.
func (r *Replicator) Pull(ctx context.Context) error {
	if len(r.Peer.Subscribe) == 0 {
		return nil
	}

	for {
		after := int64(0)
		if err := r.node.Store.Read(ctx,
			func(c *store.Conn) (err error) { after, err = c.Counter(receivedCounter); return err }); err != nil {
			return err
		}
		l := &PullResponse{}
		if err := r.ask(ctx, "pull", &PullRequest{Replica: r.Peer.Replica, After: after, Subscribe: r.Peer.Subscribe},
			l); err != nil {
			return err
		}

		for i := range l.Memories {
			m := &l.Memories[i]
			m.Confidence *= r.Peer.trusted(m)

			// The mark keeps Push from sending the copy back, and lets bound forget it.
			m.Extra.Tool, m.Pinned, m.Where = Tool, false, m.UID
		}
		if len(l.Memories) > 0 {
			_, err := r.node.Receive(ctx, &Entries{[]*archive.Entry{{Memories: l.Memories}}}, archive.ImportOptions{Refused: func(uid string, err error) {
				r.log.Warn("a fact of the site is not kept", "uid", uid, "err", err)
			}}, copies{})
			if err != nil {
				return err
			}
		}

		// The counter moves after the import. After a crash in between the same page is imported again and changes
		// nothing.
		if err := r.node.Store.Write(ctx,
			func(tx *store.Tx) error { return tx.SetCounter(receivedCounter, l.Upto) }); err != nil {
			return err
		}
		r.mu.Lock()
		r.status.Received += int64(len(l.Memories))
		r.mu.Unlock()
		if !l.More {
			return r.bound(ctx)
		}
	}
}

// trusted is the factor of the confidence of another robot's fact: the product of those that apply.
// The keys are same_model (robot.model of its context is that of this robot) or else other,
// simulation (env.sim_or_real is sim), and robot:NAME.
func (p *Peer) trusted(m *archive.Memory) float64 {
	factor := 1.0
	apply := func(key string, applies bool) {
		if f, ok := p.Trust[key]; ok && applies {
			factor *= f
		}
	}
	context := robotmem.ParseObject(string(m.Context))
	model, _ := context.At("robot.model")
	kind, _ := context.At("env.sim_or_real")
	same := p.Model != "" && model == p.Model
	apply("same_model", same)
	apply("other", !same)
	apply("simulation", kind == "sim")
	apply("robot:"+m.Extra.Robot, true)

	return min(1, max(0, factor))
}

// copies stores what came from the site: its state replaces the copy here.
type copies struct{}

func (copies) Decide(
	_ *store.Tx, r *store.ImportRecord, known *store.Archived, v store.Decision,
) (store.Decision, error) {
	switch {
	// A fact that is not active at the site and unknown here needs no copy.
	case v == store.ImportPurged || known == nil && r.Status != "active":
		return store.ImportPurged, nil
	case known == nil:
		return v, nil
	case known.Extra.Tool != Tool: // its own
		return store.ImportKeep, nil
	case bytes.Equal(StateOf(r.Memory), StateOf(&known.Memory)):
		return store.ImportSame, nil
	}

	return store.ImportReplace, nil
}

func (copies) Stored(*store.Tx, *store.ImportRecord, int64, store.Decision) error { return nil }

// bound forgets the oldest copies over the limit.
func (r *Replicator) bound(ctx context.Context) error {
	var ids []int64
	err := r.node.Store.Read(ctx, func(c *store.Conn) error {
		return c.Query(store.FleetMemoriesBeyond, []any{Tool, r.Peer.Limit}, func(s store.Row) error {
			ids = append(ids, s.ColumnInt64(0))
			return nil
		})
	})
	if err != nil || len(ids) == 0 {
		return err
	}

	return r.node.Store.Write(ctx, func(tx *store.Tx) error {
		for _, id := range ids {
			if err := tx.SetStatus(id, "invalidated", 0, "forgotten",
				"older than the facts of other robots that are kept"); err != nil {
				return err
			}
		}

		return nil
	})
}

// ask sends a request as JSON and decodes the answer.
func (r *Replicator) ask(ctx context.Context, what string, request, answer any) error {
	data, err := json.Marshal(request)
	if err != nil {
		return err
	}
	body, err := gzipped(data)
	if err != nil {
		return err
	}

	return r.send(ctx, what, body, answer)
}

// answers are the fields that the answer to each request has.
var answers = map[string][]string{"hello": {"upto"}, "push": {"upto", "memories"}, "pull": {"upto", "more", "memories"}}

func (r *Replicator) send(ctx context.Context, what string, body []byte, answer any) error {
	ctx, cancel := context.WithTimeout(ctx, requestTime)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, r.Peer.URL+"/api/fleet/"+what, bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Content-Encoding", "gzip")

	return r.do(req, answer, answers[what]...)
}

// do sends a request and decodes the answer, which must have the required fields.
func (r *Replicator) do(req *http.Request, answer any, required ...string) error {
	if r.Peer.Token != "" {
		req.Header.Set("Authorization", "Bearer "+r.Peer.Token)
	}

	res, err := r.http.Do(req)
	if redirect := (*outgoing.RedirectError)(nil); errors.As(err, &redirect) {
		return r.notASite(redirect.Error())
	}
	if err != nil {
		return robotmem.Errorf(robotmem.Unavailable, "fleet", "the site at %s is not reached (%s)", r.Peer.URL,
			robotmem.Reason(err))
	}

	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		var problem struct{ Kind, Field, Detail string }
		data, _ := io.ReadAll(io.LimitReader(res.Body, 1<<16))
		if json.Unmarshal(data, &problem) != nil || problem.Detail == "" {
			problem.Detail = strings.TrimSpace(res.Status)
		}

		// Unavailable lets the caller try again. An error of the request itself would occur again.
		kind := robotmem.Unavailable

		switch {
		case res.StatusCode == http.StatusNotFound && req.URL.Path != payloadPath:
			// Only a site has the routes of the protocol. A payload may be of a memory that it does not have.
			return robotmem.Errorf(robotmem.Invalid, "fleet", "there is no site at %s: what answers there keeps its memory in a "+
				"file, or is another program; a site is started with robotmem web --db postgres://…", r.Peer.URL)
		case res.StatusCode == http.StatusUnauthorized || res.StatusCode == http.StatusForbidden:
			kind = robotmem.Forbidden
		case res.StatusCode == http.StatusConflict:
			kind = robotmem.Conflict
		case res.StatusCode >= 400 && res.StatusCode < 500 && res.StatusCode != http.StatusTooManyRequests:
			kind = robotmem.Invalid
		}

		return robotmem.Errorf(kind, cmp.Or(problem.Field, "fleet"), "the site answers: %s", problem.Detail)
	}

	data, err := io.ReadAll(io.LimitReader(res.Body, MaxUnpacked))
	if err != nil {
		return robotmem.Errorf(robotmem.Unavailable, "fleet", "the answer of the site at %s ended early (%s)",
			r.Peer.URL, robotmem.Reason(err))
	}

	fields := map[string]json.RawMessage{}
	if err := json.Unmarshal(data, &fields); err != nil {
		return r.notASite("its answer is no JSON object")
	}

	// A proxy or another program may answer with some other JSON.
	for _, name := range required {
		if fields[name] == nil {
			return r.notASite("its answer has no " + name)
		}
	}

	if err := json.Unmarshal(data, answer); err != nil {
		return r.notASite("its answer cannot be read")
	}

	return nil
}

// notASite is the error of an answer that a site would not give. What was sent counts as not arrived.
func (r *Replicator) notASite(why string) error {
	return robotmem.Errorf(robotmem.Unavailable, "fleet",
		"%s does not answer as a site of robotmem: %s; check the address, and proxies between here and the site",
		r.Peer.URL, why)
}
