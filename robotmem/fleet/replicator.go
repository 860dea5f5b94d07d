package fleet

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/engine"
	"github.com/robotmem/robotmem-go/robotmem/internal/files"
	"github.com/robotmem/robotmem-go/robotmem/internal/outgoing"
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
	Before    []string           `json:"before,omitempty"`    // the replicas that this memory was before, newest first
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

// The names of a robot's counters.
const (
	sentCounter    = "fleet_sent"     // Changes up to this number have arrived at the site
	payloadCounter = "fleet_payloads" // and the payloads of those up to this number
	endedCounter   = "fleet_ended"    // and the ends of sessions up to this entry of the audit log
)

const (
	pushMemories  = 500
	firstPause    = time.Second
	longestPause  = time.Minute
	syncInterval  = 10 * time.Second // between pulls while there is news
	busyInterval  = 30 * time.Second // while there is so much that chunks fill in that time
	idleInterval  = time.Minute      // at most, without any
	muchNews      = 50               // changes in a pull
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

	// Version is that of the program, for the site.
	Version string

	refusedSent time.Time // when what the site has refused was sent again
	news        int       // changes that the last pull has read

	mu     sync.Mutex // guards status
	status Status
}

// NewReplicator returns the replicator of a memory. The peer must be complete.
func NewReplicator(n *local.Node, p Peer, client *http.Client, log *slog.Logger) *Replicator {
	p.Limit, p.Payloads = cmp.Or(p.Limit, defaultCopies), cmp.Or(p.Payloads, PayloadsNone)
	return &Replicator{
		node: engine.Of(n), Peer: p, http: outgoing.Client(client), log: cmp.Or(log, slog.New(slog.DiscardHandler)),
		status: Status{Site: p.URL, Robot: p.Robot},
	}
}

// errLeft says that another process has left the site.
var errLeft = errors.New("this memory has left the site")

// Run replicates until ctx ends, or until another process leaves the site. If several processes have the memory open,
// one of them replicates.
func (r *Replicator) Run(ctx context.Context) {
	pause, between := firstPause, syncInterval
	greeted, pulled := false, time.Time{}
	joined := r.hasSite()

	for ctx.Err() == nil {
		more := false // payloads
		err := r.alone(func() (err error) {
			if joined && !r.hasSite() {
				return errLeft
			}
			if !greeted {
				if err = r.Greet(ctx, false); err != nil {
					return err
				}
				greeted = true
			}
			if err = r.Push(ctx); err == nil && time.Since(pulled) >= between {
				pulled, err = time.Now(), r.Pull(ctx)
				between = r.nextPull(between)
			}

			// One payload at a time, so that changes that are made meanwhile do not wait for all payloads.
			if err == nil {
				more, err = r.payloads(ctx, 1)
			}

			return err
		})
		if errors.Is(err, errLeft) {
			r.log.Warn("this memory has left the site; nothing is sent or fetched any more", "site", r.Peer.URL)
			return
		}

		wait := syncInterval
		if more {
			// The next round pushes what was stored meanwhile before it sends another payload.
			wait = 0
		}
		if err != nil && ctx.Err() == nil {
			// The answer to a push may have been lost: the site knows whether it has arrived.
			greeted = false
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

// hasSite reports whether the file of the site is there.
func (r *Replicator) hasSite() bool {
	_, err := os.Stat(r.node.Store.Files().Site())
	return err == nil
}

// nextPull returns how long to wait for the next pull: as long as there are either many changes or none.
func (r *Replicator) nextPull(before time.Duration) time.Duration {
	switch {
	case r.news > muchNews:
		return busyInterval
	case r.news > 0:
		return syncInterval
	default:
		return min(2*before, idleInterval)
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
