package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"

	"github.com/robotmem/robotmem-go/perception/importing"
	"github.com/robotmem/robotmem-go/robotmem"
)

// importSink stores what an importer finds. Several perceptions are saved side
// by side: they are described on all cores and share commits.
type importSink struct {
	m          node
	collection string
}

var _ importing.Sink = (*importSink)(nil)

const (
	importSavers = 8
	maxSource    = 64 // characters
)

func (s *importSink) Start(ctx context.Context, session importing.Session) (string, error) {
	res, err := s.m.StartSession(ctx, &robotmem.StartSessionRequest{Collection: s.collection, Context: session.Context, Origin: session.Origin})
	if errors.Is(err, robotmem.Conflict) {
		return "", fmt.Errorf("%w: %w", importing.ErrEnded, err)
	}
	if err != nil {
		return "", err
	}
	return res.SessionID, nil
}

func (s *importSink) End(ctx context.Context, session string, outcome *float64) error {
	_, err := s.m.EndSession(ctx, &robotmem.EndSessionRequest{SessionID: session, OutcomeScore: outcome})
	return err
}

// Save carries what it has begun to its end, also when ctx ends meanwhile.
func (s *importSink) Save(ctx context.Context, session string, ps []importing.Perception) (int, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	ctx = context.WithoutCancel(ctx)
	var stored, next atomic.Int64
	errs := make([]error, len(ps))
	var failed atomic.Bool
	var savers sync.WaitGroup
	for range min(importSavers, len(ps)) {
		savers.Go(func() {
			for !failed.Load() {
				i := int(next.Add(1)) - 1
				if i >= len(ps) {
					return
				}
				isNew, err := s.save(ctx, session, &ps[i])
				if err != nil {
					errs[i] = fmt.Errorf("%s: %w", ps[i].Description, err)
					failed.Store(true)
				} else if isNew {
					stored.Add(1)
				}
			}
		})
	}
	savers.Wait()
	return int(stored.Load()), errors.Join(errs...)
}

func (s *importSink) save(ctx context.Context, session string, p *importing.Perception) (isNew bool, err error) {
	req := &robotmem.SavePerceptionRequest{
		Description: p.Description, PerceptionType: p.Type, MediaType: p.MediaType, Metadata: p.Metadata, Context: p.Context,
		SessionID: session, Origin: p.Origin,
	}
	if session == "" {
		req.Collection = s.collection
	}
	if !p.ObservedAt.IsZero() {
		req.ObservedAt = &p.ObservedAt
	}
	if topic, ok := p.Metadata["topic"].(string); ok {
		req.Source = firstRunes(topic, maxSource)
	}
	data := io.Reader(bytes.NewReader(p.Data))
	if p.Open != nil {
		f, err := p.Open()
		if err != nil {
			return false, err
		}
		defer f.Close()
		data = f
	}
	res, err := s.m.SavePerceptionFrom(ctx, req, data)
	if err != nil {
		return false, err
	}
	return res.Status == "created", nil
}

func firstRunes(s string, n int) string {
	for i := range s {
		if n--; n < 0 {
			return s[:i]
		}
	}
	return s
}
