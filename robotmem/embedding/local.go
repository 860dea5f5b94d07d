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

	"github.com/robotmem/robotmem-go/robotmem"
)

// Runtime runs the models of one format in this process.
type Runtime struct {
	// Files are the names of the files that define a model. A part of their hash
	// is part of the model's identity, as two folders of one name can hold
	// different models.
	Files []string
	// Batch is the largest number of texts that a call of Model.Embed gets, at
	// most Options.Batch. Zero stands for Options.Batch.
	Batch int
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

// openLocal returns the embedder of the model in dir. Its identity is
// "<kind>:<folder>@<8 hexadecimal digits of the hash of the files>".
func openLocal(kind, dir string, r Runtime, o Options) (robotmem.Embedder, error) {
	model, err := r.Open(dir)
	if err != nil {
		return nil, fileError(dir, err)
	}
	hash, err := hashFiles(dir, r.Files)
	if err != nil {
		return nil, fileError(dir, errors.Join(err, model.Close()))
	}
	absolute, err := filepath.Abs(dir) // dir may be "." or end in a slash
	if err != nil {
		return nil, invalid("%w", errors.Join(err, model.Close()))
	}
	folder, prompted := filepath.Base(absolute), ""
	if r.Prompts {
		prompted = folder
	}
	if r.Batch > 0 {
		o.Batch = min(o.Batch, r.Batch)
	}
	identity := fmt.Sprintf("%s:%s@%x", kind, folder, hash[:4])
	return newEmbedder(identity, prompted, localBackend{model}, o, model.Close), nil
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

// fileError is the error of a model whose files are missing or cannot be used.
func fileError(dir string, err error) *robotmem.Error {
	if missing := (*fs.PathError)(nil); errors.As(err, &missing) && errors.Is(err, fs.ErrNotExist) {
		return &robotmem.Error{Kind: robotmem.NotFound, Field: "embedder", Err: fmt.Errorf("%s has no %s; give the folder that the model was downloaded to", dir, filepath.Base(missing.Path))}
	}
	return invalid("the model in %s: %w", dir, err)
}

type localBackend struct{ Model }

var _ backend = localBackend{}

func (b localBackend) embed(ctx context.Context, texts []string) ([][]float32, error) {
	return b.Embed(ctx, texts)
}

func (b localBackend) explain(err error) *robotmem.Error {
	if e := (*robotmem.Error)(nil); errors.As(err, &e) {
		return e
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return &robotmem.Error{Kind: robotmem.Unavailable, Err: errors.New("the model ran out of time; ask for fewer texts at once, or choose a smaller model")}
	}
	return &robotmem.Error{Kind: robotmem.Internal, Err: fmt.Errorf("the model %w; its files are damaged, download them again", err)}
}
