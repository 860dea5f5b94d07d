package fleet

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/store"
)

// Policies for payloads on a metered link.
const (
	MeteredWait = "wait"
	MeteredSend = "send"
)

// Payloads sends what the policy allows of the payloads of the memories that the site has.
func (r *Replicator) Payloads(ctx context.Context) error {
	for {
		if more, err := r.payloads(ctx, payloadsAsked); err != nil || !more {
			return err
		}
	}
}

// payloadsAsked is about how many memories the site is asked at once if it has their payloads.
const payloadsAsked = 50

// payloads looks at the next memories, and sends at most most payloads. more is whether others may be left.
func (r *Replicator) payloads(ctx context.Context, most int) (more bool, err error) {
	if r.Peer.Payloads == PayloadsNone {
		return false, nil
	}

	p, rows := &PushRequest{Protocol: Protocol, Replica: r.Peer.Replica, Robot: r.Peer.Robot, Asks: true}, 0
	err = r.node.Store.Read(ctx, func(c *store.Conn) error {
		sent, err := c.Counter(sentCounter)
		if err != nil {
			return err
		}

		after, err := c.Counter(payloadCounter)
		if err != nil {
			return err
		}

		return c.EachArchivedSince(after, pushMemories, func(a *store.Archived, revision int64) error {
			// The site must have the memory before its payload. At the limit the rest waits for the next call.
			if revision > sent || len(p.Memories) == most {
				return io.EOF
			}
			rows++
			p.Upto = revision
			if !a.Damaged && a.Extra.Tool != Tool && a.Payload != nil && r.follows(a.Extra.Outcome) {
				// The history has been sent with the memory.
				a.Versions = nil
				p.Memories = append(p.Memories, NumberedMemory{Counter: revision, Memory: a.Memory})
			}

			return nil
		})
	})
	if err != nil {
		return false, err
	}

	// The kind of the link matters only if there is something to send.
	metered := len(p.Memories) > 0 && r.Peer.Metered != MeteredSend && r.link.metered(ctx)
	r.mu.Lock()
	r.status.Metered = metered
	r.mu.Unlock()
	// Rows without a payload move the counter only after a full page. A commit for a few rows costs more than reading
	// them again.
	if metered || len(p.Memories) == 0 && rows < pushMemories {
		return false, nil
	}

	if len(p.Memories) > 0 {
		if err := r.sendPayloads(ctx, p); err != nil {
			return false, err
		}
	}

	// The counter moves after the payloads. After a crash the site is asked again and names only those that it lacks.
	return true, r.node.Store.Write(ctx, func(tx *store.Tx) error { return tx.SetCounter(payloadCounter, p.Upto) })
}

// ResendPayloads makes the next Payloads ask for all payloads again, as after a change of the policy
// or of a quota of the site.
func (r *Replicator) ResendPayloads(ctx context.Context) error {
	return r.node.Store.Write(ctx, func(tx *store.Tx) error {
		return errors.Join(tx.SetCounter(payloadCounter, 0), tx.Exec(store.DeleteFleetNotes, kindPayload))
	})
}

// follows reports whether the policy allows the payload of a memory with an outcome.
func (r *Replicator) follows(outcome string) bool {
	return r.Peer.Payloads == PayloadsAll || outcome == robotmem.OutcomeFailure || outcome == robotmem.OutcomePartial
}

// sendPayloads sends those payloads that the site does not have.
func (r *Replicator) sendPayloads(ctx context.Context, p *PushRequest) error {
	ack := &PushResponse{}
	if err := r.ask(ctx, "push", p, ack); err != nil {
		return err
	}

	for i := range p.Memories {
		if m := &p.Memories[i]; slices.Contains(ack.Wanted, m.Payload.SHA256) {
			err := r.sendPayload(ctx, m)
			// This payload would be refused again, and the others would wait behind it.
			if ofMemory(err) {
				err = r.putNotes(ctx, kindPayload, []SyncNote{{m.UID, robotmem.Explain(err).Detail()}})
			}
			if err != nil {
				return err
			}
		}
	}

	return nil
}

// memoryFields are those of a memory that its robot may not send.
var memoryFields = []string{"uid", "collection", "session_id", "superseded_by", "context.robot", "name"}

// ofMemory reports whether a site refuses this payload, and not all that its token or its replica sends.
func ofMemory(err error) bool {
	e := (*robotmem.Error)(nil)
	return errors.As(err, &e) && (e.Kind == robotmem.Invalid ||
		e.Kind == robotmem.Forbidden && slices.Contains(memoryFields, e.Field))
}

func (r *Replicator) sendPayload(ctx context.Context, m *NumberedMemory) error {
	id := int64(0)
	err := r.node.Store.Read(ctx, func(c *store.Conn) (err error) { id, err = c.IDOf(m.UID); return err })
	if err != nil || id == 0 {
		return err
	}

	data, err := r.node.OpenData(ctx, &robotmem.MemoryRequest{MemoryID: id})
	if err != nil {
		r.log.Warn("a payload is not sent", "uid", m.UID, "err", err)
		// Evicted or damaged here; the memory itself has arrived.
		return nil
	}

	defer data.Close()
	head, err := json.Marshal(&PushRequest{Protocol: Protocol, Replica: r.Peer.Replica, Robot: r.Peer.Robot, Memories: []NumberedMemory{*m}})
	if err != nil {
		return err
	}

	body := io.MultiReader(bytes.NewReader(append(head, '\n')), &limited{ctx: ctx, r: data, rate: r.Peer.Bandwidth})
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, r.Peer.URL+payloadPath, body)
	if err != nil {
		return err
	}

	req.Header.Set("Content-Type", "application/octet-stream")

	return r.do(req, &struct{}{}, "stored")
}

// limited reads at most so many bytes a second.
type limited struct {
	ctx  context.Context
	r    io.Reader
	rate int64
}

func (l *limited) Read(p []byte) (int, error) {
	if l.rate <= 0 {
		return l.r.Read(p)
	}

	// Reads of a tenth of a second keep the stream even.
	n, err := l.r.Read(p[:min(int64(len(p)), max(1, l.rate/10))])
	select {
	case <-time.After(time.Duration(n) * time.Second / time.Duration(l.rate)):
	case <-l.ctx.Done():
		return n, l.ctx.Err()
	}

	return n, err
}

// payloadPath is the route for one payload.
const payloadPath = "/api/fleet/payload"

// networkLink is the link to the network as it was seen last.
type networkLink struct {
	at   time.Time
	paid bool
}

const (
	linkTime   = time.Minute // how long what was seen holds
	linkAnswer = 2 * time.Second
)

// LookAtLinkAgain makes the next payload ask for the kind of link, which is known for a minute otherwise.
func (r *Replicator) LookAtLinkAgain() { r.link = networkLink{} }

// metered reports whether NetworkManager takes the link for one that is paid by volume, or guesses
// so. Without NetworkManager no link is. The caller does not run concurrently with itself.
func (l *networkLink) metered(ctx context.Context) bool {
	if time.Since(l.at) < linkTime {
		return l.paid
	}
	ctx, cancel := context.WithTimeout(ctx, linkAnswer)
	defer cancel()

	const manager = "org.freedesktop.NetworkManager"
	out, err := exec.CommandContext(ctx, "busctl", "get-property", manager, "/org/freedesktop/NetworkManager", manager,
		"Metered").Output()
	answer := strings.TrimSpace(string(out)) // of the type NMMetered

	// NMMetered has 1 for yes and 3 for a guess of yes.
	l.at, l.paid = time.Now(), err == nil && (answer == "u 1" || answer == "u 3")

	return l.paid
}
