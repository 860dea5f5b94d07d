package local

import (
	"context"
	"errors"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/sqlite"
)

// runEmbedder fills in the vectors that are missing, until ctx ends. Nobody
// waits for it.
func (e *Engine) runEmbedder(ctx context.Context) {
	for ctx.Err() == nil {
		rest := embedPause
		more, err := e.embedSome(ctx)
		switch {
		case err != nil && ctx.Err() == nil:
			e.log.Warn("embedding", "err", err)
		case more:
			continue
		}
		if until := e.embeddings.embedder.State().Until; !until.IsZero() {
			rest = max(rest, until.Sub(e.now()))
		}
		select {
		case <-ctx.Done():
		case <-time.After(min(rest, time.Minute)): // a clock that is set must not keep it asleep
		case <-e.embeddings.wake:
			// What is learnt in one go is embedded in one go, and stored in one
			// commit.
			select {
			case <-ctx.Done():
			case <-time.After(embedGather):
			}
		}
	}
}

// embedSome embeds the next few memories that wait for the present model, which
// it is the first to name if the file has none. more is true when it should be
// called again at once.
func (e *Engine) embedSome(ctx context.Context) (more bool, err error) {
	state := e.embeddings.embedder.State()
	if state.Model == "" || state.Reason != "" {
		return false, nil
	}
	var m model
	if err := e.store.read(ctx, func(c *conn) (err error) { m, err = c.presentModel(); return err }); err != nil {
		return false, err
	}
	if m.id == 0 {
		if m, err = e.bindModel(ctx, state.Model, modelPresent); err != nil || m.id == 0 {
			return false, err
		}
	}
	if m.name != state.Model {
		return false, nil // recall and doctor say what to do
	}
	done, _, err := e.fill(ctx, &m)
	return !done, err
}

// bindModel finds out a model's dimension and stores it. The id is 0 while the
// file holds nothing to embed.
func (e *Engine) bindModel(ctx context.Context, name, state string) (m model, err error) {
	empty := true
	err = e.store.read(ctx, func(c *conn) (err error) { empty, err = c.empty(); return err })
	if err != nil || empty {
		return m, err
	}
	vectors, err := e.embed(ctx, robotmem.ForMemory, []string{"robot"})
	if err == nil {
		err = e.checkVectors(vectors, 1, 0)
	}
	if err != nil {
		return m, err
	}
	err = e.store.write(ctx, func(tx *writeTx) (err error) {
		if state == modelPresent { // another process may have been first
			if m, err = tx.presentModel(); err != nil || m.id != 0 {
				return err
			}
		}
		m, err = tx.createModel(name, len(vectors[0]), state)
		return err
	})
	return m, err
}

// fill embeds the next page of memories that wait for a model and moves m on.
// done is true when none is left; embedded is how many it embedded.
func (e *Engine) fill(ctx context.Context, m *model) (done bool, embedded int, err error) {
	e.embeddings.filling.Lock()
	defer e.embeddings.filling.Unlock()
	var items []waiting
	upto := m.upto
	err = e.store.read(ctx, func(c *conn) (err error) {
		if err := c.keeps(m); err != nil {
			return err
		}
		items, upto, done, err = c.nextWaiting(m, embedPage)
		return err
	})
	if err != nil || upto == m.upto {
		return done, 0, err
	}
	for len(items) > 0 {
		part := items[:min(embedBatch, len(items))]
		items = items[len(part):]
		vectors, err := e.embedEach(ctx, part, m.dims)
		if err != nil {
			return false, embedded, err
		}
		if err := e.store.write(ctx, func(tx *writeTx) error { return tx.storeVectors(m.id, part, vectors, 0) }); err != nil {
			return false, embedded, err
		}
		embedded += len(part)
	}
	err = e.store.write(ctx, func(tx *writeTx) error { return tx.storeVectors(m.id, nil, nil, upto) })
	m.upto = upto
	return done, embedded, err
}

// embedEach embeds some texts. One that the model refuses gets no vector; it is
// found by asking for half of them at a time.
func (e *Engine) embedEach(ctx context.Context, items []waiting, dims int) ([][]float32, error) {
	texts := make([]string, len(items))
	for i := range items {
		texts[i] = items[i].text
	}
	vectors, err := e.embed(ctx, robotmem.ForMemory, texts)
	if err == nil {
		err = e.checkVectors(vectors, len(texts), dims)
	}
	switch {
	case err == nil:
		return vectors, nil
	case !errors.Is(err, robotmem.Invalid):
		return nil, err
	case len(items) == 1:
		e.log.Warn("the model refuses a text; it is found by words only", "memory_id", items[0].id, "err", err)
		return [][]float32{nil}, nil
	}
	half := len(items) / 2
	first, err := e.embedEach(ctx, items[:half], dims)
	if err != nil {
		return nil, err
	}
	second, err := e.embedEach(ctx, items[half:], dims)
	return append(first, second...), err
}

// Reembed makes the vectors of every memory with the model of this node's
// embedder and then lets recall ask that model. Recall goes on with the old
// vectors until the last is there; what an interrupted call has made is kept
// for the next, and texts that the model has refused are tried again. progress
// is told how many of how many are done. It fails with Invalid without an
// embedder, with Conflict when the reembed of another process ends first, and as
// Embedder.Embed does.
func (e *Engine) Reembed(ctx context.Context, progress func(done, total int64)) error {
	return sqlite.Wrap("reembed", e.reembed(ctx, progress))
}

func (e *Engine) reembed(ctx context.Context, progress func(done, total int64)) error {
	if e.embeddings.embedder == nil {
		return robotmem.Errorf(robotmem.Invalid, "embedder", "is required: the model to move to, such as ollama:nomic-embed-text")
	}
	// The first text finds out whether the model answers, and its full name.
	if _, err := e.embed(ctx, robotmem.ForMemory, []string{"robot"}); err != nil {
		return err
	}
	name := e.embeddings.embedder.State().Model
	m, err := e.bindModel(ctx, name, modelFilling)
	if err != nil || m.id == 0 {
		return err
	}
	if err := e.store.write(ctx, func(tx *writeTx) (err error) { m, err = tx.retryRefused(m.id); return err }); err != nil {
		return err
	}
	if m.id == 0 {
		return errReplaced
	}
	var total int64
	err = e.store.read(ctx, func(c *conn) (err error) {
		if err := c.keeps(&m); err != nil {
			return err
		}
		total, err = c.backlog(&m)
		return err
	})
	if err != nil {
		return err
	}
	progress(0, total)
	for sum, done := int64(0), false; !done; {
		var n int
		if done, n, err = e.fill(ctx, &m); err != nil {
			return err
		}
		sum += int64(n)
		progress(min(sum, total), total)
	}
	return e.store.write(ctx, func(tx *writeTx) error {
		now, err := tx.model(m.id)
		switch {
		case err != nil || now.state == modelPresent:
			return err
		case now.id == 0: // to promote it would drop the one that has won
			return errReplaced
		}
		return tx.promote(m.id)
	})
}

// keeps fails with errReplaced when a model is gone, and its table with it.
func (c *conn) keeps(m *model) error {
	now, err := c.model(m.id)
	if err == nil && now.id == 0 {
		err = errReplaced
	}
	return err
}

var errReplaced = robotmem.Errorf(robotmem.Conflict, "embedder", "another reembed has ended meanwhile and dropped the vectors of this one; run it again if this is the model you want")
