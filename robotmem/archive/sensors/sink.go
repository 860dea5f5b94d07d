package sensors

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sync/semaphore"

	"github.com/robotmem/robotmem-go/perception"
	"github.com/robotmem/robotmem-go/perception/importers"
	"github.com/robotmem/robotmem-go/robotmem"
)

// Sink stores what an importer reads. It saves several perceptions at a time: all cores
// describe them, and they share commits.
type Sink struct {
	Node       robotmem.Node
	Collection string // "" is the default of the node
	// Savers is how many perceptions are saved at a time; 0 is eight. Fewer take less memory.
	Savers int
}

var _ importers.Sink = (*Sink)(nil)

const (
	savers    = 8
	maxSource = 64 // bytes
	factBatch = 500
	// maxDecoding bounds what describing perceptions side by side takes, in bytes. One that takes more
	// is described alone.
	maxDecoding = 512 << 20
)

func (s *Sink) Start(ctx context.Context, session importers.Session) (string, error) {
	res, err := s.Node.StartSession(ctx, &robotmem.StartSessionRequest{
		Collection: s.Collection,
		Context:    session.Context,
		Origin:     session.Origin,
		StartedAt:  timeOrNil(session.StartedAt),
	})
	if errors.Is(err, robotmem.Conflict) {
		return "", fmt.Errorf("%w: %w", importers.ErrEnded, err)
	}
	if err != nil {
		return "", err
	}

	return res.SessionID, nil
}

func (s *Sink) End(ctx context.Context, session string, ending importers.Ending) error {
	_, err := s.Node.EndSession(ctx, &robotmem.EndSessionRequest{
		SessionID: session, OutcomeScore: ending.Outcome, EndedAt: timeOrNil(ending.At),
	})
	return err
}

func timeOrNil(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

// Learn implements [importers.Sink]. Each fact is an observation of its own: equal ones are stored
// side by side, since the importer has counted together what belongs together.
func (s *Sink) Learn(ctx context.Context, session string, facts []importers.Fact) (int, error) {
	stored := 0

	for part := range slices.Chunk(facts, factBatch) {
		req := &robotmem.LearnBatchRequest{KeepDuplicates: true}

		for i := range part {
			f := &part[i]
			sum := sha256.Sum256([]byte(f.Origin))
			item := robotmem.LearnRequest{
				Insight: f.Text, Context: f.Context, SessionID: session, Outcome: f.Outcome, Source: importers.Cut(f.Source, maxSource),
				ObservedAt: timeOrNil(f.ObservedAt), RequestID: "import-" + hex.EncodeToString(sum[:16]),
			}
			if session == "" {
				item.Collection = s.Collection
			}
			req.Items = append(req.Items, item)
		}

		res, err := s.Node.LearnBatch(context.WithoutCancel(ctx), req)
		if err != nil {
			return stored, err
		}

		for i := range res.Results {
			if e := res.Results[i].Error; e != nil {
				return stored, robotmem.Errorf(e.Kind, e.Field, "%s: %s", part[i].Text, e.Detail)
			}
			stored++
		}
	}

	return stored, ctx.Err()
}

// Save implements [importers.Sink]. What it has begun it completes, also if ctx ends.
func (s *Sink) Save(ctx context.Context, session string, ps []importers.Perception) (int, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}

	// A batch that has begun is completed, so that the number of stored perceptions is exact.
	ctx = context.WithoutCancel(ctx)

	var stored atomic.Int64
	decoding := semaphore.NewWeighted(maxDecoding)
	all, failed := errgroup.WithContext(ctx)
	all.SetLimit(cmp.Or(s.Savers, savers))

	for i := range ps {
		all.Go(func() error {
			if failed.Err() != nil {
				return nil
			}

			// A compressed image may take a hundred times its bytes while it is described.
			item := perception.Item{MediaType: ps[i].MediaType, Data: ps[i].Data}
			cost := min(maxDecoding, perception.DecodeBytes(item))
			if err := decoding.Acquire(failed, cost); err != nil {
				return nil // another one has failed
			}

			defer decoding.Release(cost)

			isNew, err := s.save(ctx, session, &ps[i])
			if err != nil {
				return fmt.Errorf("%s: %w", ps[i].Description, err)
			}
			if isNew {
				stored.Add(1)
			}

			return nil
		})
	}

	err := all.Wait()

	return int(stored.Load()), err
}

func (s *Sink) save(ctx context.Context, session string, p *importers.Perception) (isNew bool, err error) {
	req := &robotmem.SavePerceptionRequest{
		Description:    p.Description,
		PerceptionType: p.Type,
		MediaType:      p.MediaType,
		Metadata:       p.Metadata,
		Context:        p.Context,
		SessionID:      session,
		Origin:         p.Origin,
	}

	// A perception of a session is in the collection of the session.
	if session == "" {
		req.Collection = s.Collection
	}
	if !p.ObservedAt.IsZero() {
		req.ObservedAt = &p.ObservedAt
	}

	if topic, ok := p.Metadata["topic"].(string); ok {
		// A topic may be named /operator, which Validate would refuse as a source.
		if robotmem.ReservedSource(topic) {
			topic = "topic /" + topic
		}
		req.Source = importers.Cut(topic, maxSource)
	}

	res, err := s.Node.SavePerceptionFrom(ctx, req, bytes.NewReader(p.Data))
	if err != nil {
		return false, err
	}

	return res.Status == "created", nil
}
