package embedding

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/robotmem/robotmem-go/robotmem"
)

// readModelFile reads a file without which dir holds no model.
func readModelFile(dir, name string) ([]byte, error) {
	data, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		return nil, missingFile(dir, name, err)
	}
	return data, nil
}

// missingFile is the error of a file of a model that cannot be read.
func missingFile(dir, name string, err error) *robotmem.Error {
	if errors.Is(err, fs.ErrNotExist) {
		return &robotmem.Error{Kind: robotmem.NotFound, Field: "embedder", Err: fmt.Errorf("%s has no %s; give the folder that the model was downloaded to", dir, name)}
	}
	return invalid("%w", err)
}

// folderName is the name of a folder that may be given as "." or with a slash.
func folderName(dir string) (string, error) {
	full, err := filepath.Abs(dir)
	if err != nil {
		return "", invalid("%w", err)
	}
	return filepath.Base(full), nil
}

// explainLocal says what an error of a model in this process means.
func explainLocal(err error) *robotmem.Error {
	if e := (*robotmem.Error)(nil); errors.As(err, &e) {
		return e
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return &robotmem.Error{Kind: robotmem.Unavailable, Err: errors.New("the model ran out of time; ask for fewer texts at once, or choose a smaller model")}
	}
	return &robotmem.Error{Kind: robotmem.Internal, Err: fmt.Errorf("the model %w; its files are damaged, download them again", err)}
}
