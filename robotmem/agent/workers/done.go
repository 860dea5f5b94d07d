package workers

import (
	"bufio"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
)

// mostDone is how many keys are remembered. Beyond it work is done again, with the same result.
const mostDone = 200_000

// OpenDone opens the file of what was done; "" remembers only until the process ends. again forgets what is in it.
func OpenDone(path string, again bool) (Done, error) {
	d := &doneFile{path: path, keys: map[string]bool{}}
	if path == "" || again {
		return d, nil
	}

	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return d, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()

	// A line that a killed process has torn is no key.
	for lines := bufio.NewScanner(f); lines.Scan(); {
		d.keys[lines.Text()] = true
	}

	return d, nil
}

type doneFile struct {
	path string
	mu   sync.Mutex
	keys map[string]bool
}

// Has implements Done.
func (d *doneFile) Has(key string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()

	return d.keys[key]
}

// Add implements Done.
func (d *doneFile) Add(key string) error {
	d.mu.Lock()
	defer d.mu.Unlock()

	if len(d.keys) >= mostDone {
		d.keys = map[string]bool{}
		if d.path != "" {
			if err := os.Remove(d.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
	}
	d.keys[key] = true
	if d.path == "" {
		return nil
	}

	if err := os.MkdirAll(filepath.Dir(d.path), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(d.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	// A torn line before this one ends here.
	_, err = f.WriteString("\n" + key + "\n")

	return errors.Join(err, f.Close())
}
