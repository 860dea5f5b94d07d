package embedding

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/encoder"
)

// BuiltinModel is the identity of the model in the program, "" in a program without one.
func BuiltinModel() string {
	name := encoder.BuiltinName()
	if name == "" {
		return ""
	}
	return "builtin:" + name
}

// builtin is the model in the program. It is opened when the first text comes.
type builtin struct {
	embedder *embedder
	cpu      float64 // cores for memories

	mu    sync.Mutex
	until time.Time // end of the rest that the threads for memories owe for their work
}

var _ backend = (*builtin)(nil)

// openBuiltin returns the embedder of the model in the program, nil if there is none.
func openBuiltin(o Options) *embedder {
	name := BuiltinModel()
	if name == "" {
		return nil
	}
	b := &builtin{cpu: min(o.CPU, float64(runtime.NumCPU()))}
	b.embedder = newEmbedder(name, name, b, o, func() error { return nil })

	return b.embedder
}

// embed computes the vectors of a question at once, and those of memories in the background.
func (b *builtin) embed(ctx context.Context, purpose robotmem.Purpose, texts []string) ([][]float32, error) {
	model, err := encoder.Builtin()
	if err != nil {
		return nil, err
	}

	// A caller waits for the vector of a question, so it takes no low priority and no pauses.
	vectors := make([][]float32, len(texts))
	if purpose == robotmem.ForQuestion {
		for i, text := range texts {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			if vectors[i], err = safely(model, text); err != nil {
				return nil, err
			}
		}

		return vectors, nil
	}

	return vectors, b.inBackground(ctx, model, texts, vectors)
}

// inBackground computes the vectors of memories on as many threads of low priority as cpu has cores or parts
// of one. They wait while a question is answered, but not for ever.
func (b *builtin) inBackground(ctx context.Context, model *encoder.Model, texts []string, vectors [][]float32) error {
	// Half a core is one thread that rests as long as it works. rest is the share of the time that a text takes.
	threads := math.Ceil(b.cpu)
	rest := threads/b.cpu - 1
	asked := b.embedder.questions.Load()

	var next atomic.Int64

	group, ctx := errgroup.WithContext(ctx)
	for range min(int(threads), len(texts)) {
		group.Go(func() error {
			return atLowPriority(func() (err error) {
				for {
					i := int(next.Add(1)) - 1
					if i >= len(texts) {
						return nil
					}
					if err := b.pause(ctx, asked); err != nil {
						return err
					}
					start := time.Now()
					if vectors[i], err = safely(model, texts[i]); err != nil {
						return err
					}
					b.owe(time.Duration(rest * float64(time.Since(start))))
				}
			})
		})
	}

	return group.Wait()
}

// pause waits until the threads have rested, and while more than asked questions are embedded.
func (b *builtin) pause(ctx context.Context, asked int32) error {
	b.mu.Lock()
	rest := time.Until(b.until)
	b.mu.Unlock()

	for waited := 0; ; waited++ {
		if err := ctx.Err(); err != nil {
			return err
		}

		// After its rest a thread gives way to questions, but for a limited time: on a busy node memories would otherwise
		// never get their vectors.
		if rest <= 0 {
			if waited >= questionPauses || b.embedder.questions.Load() <= asked {
				return nil
			}
			rest = questionPause
		}

		select {
		case <-time.After(rest):
		case <-ctx.Done():
		}
		rest = 0
	}
}

// owe puts off the next text by a rest.
func (b *builtin) owe(rest time.Duration) {
	if rest <= 0 {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.until = time.Now().Add(rest)
}

// While a question is embedded, a memory waits for so many pauses.
const (
	questionPause  = 2 * time.Millisecond
	questionPauses = 25
)

// safely embeds a text. The weights are in the program's file, which may end before them or be on a disk
// that fails.
func safely(model *encoder.Model, text string) (vector []float32, err error) {
	defer func(before bool) {
		debug.SetPanicOnFault(before)
		if p := recover(); p != nil {
			vector, err = nil, fmt.Errorf("%w: %v", encoder.ErrDamaged, p)
		}
	}(debug.SetPanicOnFault(true))

	return model.Embed(text), nil
}

func (b *builtin) explain(err error) *robotmem.Error {
	if errors.Is(err, encoder.ErrDamaged) {
		err = fmt.Errorf("the program's file is damaged (%w); install robotmem again. "+
			"Recall is by words until then", err)
		return &robotmem.Error{Kind: robotmem.Unavailable, Err: err}
	}
	if errors.Is(err, context.DeadlineExceeded) {
		err = errors.New("the model in the program ran out of time; the processor is busy")
		return &robotmem.Error{Kind: robotmem.Unavailable, Err: err}
	}

	return &robotmem.Error{Kind: robotmem.Internal, Err: err}
}
