package embedding

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"github.com/robotmem/robotmem-go/robotmem"
)

// Runtime runs the models of one format in this process.
type Runtime struct {
	// Files are the names of the files that define a model. A part of their hash is part of the
	// model's identity, as two folders of one name can hold different models.
	Files []string
	// Prompts says that the models want prompts: the name of the folder is
	// looked up in promptTable.
	Prompts bool
	// Open reads the model in a folder. An error that wraps fs.ErrNotExist means
	// that a file is missing, any other that the files cannot be used.
	Open func(dir string) (Model, error)
}

// Model computes vectors in this process.
type Model interface {
	// Embed returns one vector for each text. Calls may run at the same time.
	Embed(ctx context.Context, texts []string) ([][]float32, error)
	// Close ends the model. Embed may then fail with Unavailable.
	Close() error
}

// openLocal returns the embedder of the model in dir.
func openLocal(kind, dir string, r Runtime, o Options) (robotmem.Embedder, error) {
	l := &localModel{runtime: r, kind: kind, dir: dir}
	if err := l.read(); err != nil {
		return nil, err
	}
	return l.embedder(o), nil
}

// localModel is a model in this process, which is read when it is opened or first used.
type localModel struct {
	runtime   Runtime
	kind, dir string
	// identity is "<kind>:<folder>@<8 hexadecimal digits of the hash of the files>".
	identity string

	mu    sync.Mutex // guards model
	model Model      // nil until it is read
}

var _ backend = (*localModel)(nil)

func (l *localModel) embedder(o Options) *embedder {
	prompted := ""
	if l.runtime.Prompts {
		prompted = l.identity
	}
	return newEmbedder(l.identity, prompted, l, o, l.close)
}

// read reads the model. It fails if it is not the one of the identity, "" for any.
func (l *localModel) read() error {
	model, err := l.runtime.Open(l.dir)
	if err != nil {
		return fileError(l.dir, err)
	}

	hash, err := hashFiles(l.dir, l.runtime.Files)
	if err != nil {
		return fileError(l.dir, errors.Join(err, model.Close()))
	}

	// The identity needs the name of the folder, and dir may be "." or end in a slash.
	absolute, err := filepath.Abs(l.dir)
	identity := fmt.Sprintf("%s:%s@%x", l.kind, filepath.Base(absolute), hash[:4])
	if err == nil && l.identity != "" && l.identity != identity {
		err = fmt.Errorf("the files in %s are not those that were pulled; pull the model again", l.dir)
	}
	if err != nil {
		return invalid("%w", errors.Join(err, model.Close()))
	}

	l.model, l.identity = model, identity

	return nil
}

// embed implements backend. A large model takes longer to read than a query may take.
// The query is then embedded nevertheless, so that its time is no failure.
func (l *localModel) embed(ctx context.Context, _ robotmem.Purpose, texts []string) ([][]float32, error) {
	l.mu.Lock()
	if l.model == nil {
		if err := l.read(); err != nil {
			l.mu.Unlock()
			return nil, &robotmem.Error{Kind: robotmem.Unavailable, Err: err}
		}
		ctx = context.WithoutCancel(ctx)
	}
	l.mu.Unlock()

	return l.model.Embed(ctx, texts)
}

func (l *localModel) close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.model == nil {
		return nil
	}
	return l.model.Close()
}

func hashFiles(dir string, names []string) ([]byte, error) {
	hash := sha256.New()

	for _, name := range names {
		f, err := os.Open(filepath.Join(dir, name))
		if err != nil {
			return nil, err
		}
		_, err = io.Copy(hash, f)
		f.Close()
		if err != nil {
			return nil, err
		}
	}

	return hash.Sum(nil), nil
}

// fileError returns the error of a model whose files are missing or cannot be used.
func fileError(dir string, err error) *robotmem.Error {
	if missing := (*fs.PathError)(nil); errors.As(err, &missing) && errors.Is(err, fs.ErrNotExist) {
		err := fmt.Errorf("%s has no %s; give the folder that the model was downloaded to, "+
			"or pull one with `robotmem model pull`", dir, filepath.Base(missing.Path))
		return &robotmem.Error{Kind: robotmem.NotFound, Field: "embedder", Err: err}
	}

	return invalid("the model in %s: %w", dir, err)
}

func (l *localModel) explain(err error) *robotmem.Error {
	if e := (*robotmem.Error)(nil); errors.As(err, &e) {
		return e
	}
	if errors.Is(err, context.DeadlineExceeded) {
		err := errors.New("the model ran out of time; ask for fewer texts at once, or choose a smaller model")
		return &robotmem.Error{Kind: robotmem.Unavailable, Err: err}
	}

	return &robotmem.Error{
		Kind: robotmem.Internal, Err: fmt.Errorf("the model %w; its files are damaged, download them again", err),
	}
}
