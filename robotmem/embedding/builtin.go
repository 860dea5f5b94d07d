package embedding

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

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
type builtin struct{ embedder *embedder }

var _ backend = (*builtin)(nil)

// openBuiltin returns the embedder of the model in the program, nil if there is none.
func openBuiltin(o Options) *embedder {
	name := BuiltinModel()
	if name == "" {
		return nil
	}
	b := &builtin{}
	b.embedder = newEmbedder(name, name, b, o, func() error { return nil })
	return b.embedder
}

// embed computes one vector after the other, on one core. Those of memories wait while a question is
// answered, but not for ever.
func (b *builtin) embed(ctx context.Context, texts []string) (vectors [][]float32, err error) {
	model, err := encoder.Builtin()
	if err != nil {
		return nil, err
	}
	// The weights are in the program's file, which may end before them or be on a disk that fails.
	defer func(before bool) {
		debug.SetPanicOnFault(before)
		if p := recover(); p != nil {
			vectors, err = nil, fmt.Errorf("%w: %v", encoder.ErrDamaged, p)
		}
	}(debug.SetPanicOnFault(true))

	asked := b.embedder.questions.Load()
	vectors = make([][]float32, len(texts))
	for i, text := range texts {
		for wait := 0; wait < questionPauses && len(texts) > 1 && b.embedder.questions.Load() > asked; wait++ {
			time.Sleep(questionPause)
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		vectors[i] = model.Embed(text)
	}
	return vectors, nil
}

// While a question is embedded, a memory waits for so many pauses.
const (
	questionPause  = 2 * time.Millisecond
	questionPauses = 25
)

func (b *builtin) explain(err error) *robotmem.Error {
	if errors.Is(err, encoder.ErrDamaged) {
		return &robotmem.Error{Kind: robotmem.Unavailable, Err: fmt.Errorf("the program's file is damaged (%w); install robotmem again. Recall is by words until then", err)}
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return &robotmem.Error{Kind: robotmem.Unavailable, Err: errors.New("the model in the program ran out of time; the processor is busy")}
	}
	return &robotmem.Error{Kind: robotmem.Internal, Err: err}
}
