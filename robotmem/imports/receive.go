package imports

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/robotmem/robotmem-go/perception/payload"
	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/admin"
	"github.com/robotmem/robotmem-go/robotmem/internal/disk"
)

const (
	maxFiles = 1000
	maxName  = 200 // bytes
	// minFree stays free on the disk, so that the memory itself can be written while recordings arrive.
	minFree   = 256 << 20
	freeEvery = 64 << 20 // bytes between two looks at the disk
)

// write receives the files of a job.
func (q *Queue) write(j *job, in admin.ImportFiles) error {
	if err := checkName("name", j.Name); err != nil {
		return err
	}
	if err := checkFree(j.path, max(in.Size, 0)); err != nil {
		return err
	}

	// The folder or the file has the name that it had, because perceptions name the recording that they are of.
	folder := filepath.Join(j.path, j.Name)
	count := 0

	for {
		name, r, err := in.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		if err := checkName("file", name); err != nil {
			return err
		}
		if count++; count > maxFiles {
			return robotmem.Errorf(robotmem.TooLarge, "file", "there are more than %d files; run robotmem import on the folder", maxFiles)
		}

		// One file stays beside the folder that several have.
		at := filepath.Join(j.path, name)
		if in.Folder {
			if err := os.MkdirAll(folder, 0o700); err != nil {
				return diskError(err)
			}
			at = filepath.Join(folder, name)
		} else if count > 1 {
			return robotmem.Errorf(robotmem.Invalid, "file", "there is more than one file; send the files of one recording with folder=true")
		}
		if j.source = at; in.Folder {
			j.source = folder
		}
		if err := q.writeFile(j, at, r); err != nil {
			return err
		}
	}

	switch {
	case count == 0:
		return robotmem.Errorf(robotmem.Invalid, "file", "there is no file; send the bytes of a recording as the body, or as parts of a form with file names")
	case j.Bytes == 0:
		return robotmem.Errorf(robotmem.Invalid, "file", "%s is empty: nothing was recorded", j.Name)
	}

	return nil
}

// writeFile copies one file to the disk.
func (q *Queue) writeFile(j *job, at string, r io.Reader) error {
	f, err := os.OpenFile(at, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, os.ErrExist) {
		return robotmem.Errorf(robotmem.Invalid, "file", "%s comes twice", filepath.Base(at))
	}
	if err != nil {
		return diskError(err)
	}

	_, err = io.Copy(&counted{q: q, j: j, f: f, left: freeEvery}, payload.ReaderWith(j.ctx, r))
	if closed := f.Close(); err == nil && closed != nil {
		err = diskError(closed)
	}
	if err == nil || errors.As(err, new(*robotmem.Error)) {
		return err
	}

	return robotmem.Errorf(robotmem.Invalid, "file", "the recording did not arrive whole, after %d bytes: %w; nothing was stored, send it again", j.Bytes, err)
}

// counted writes to a file within the limits of the queue.
type counted struct {
	q    *Queue
	j    *job
	f    *os.File
	left int64 // bytes before the next look at the disk
}

func (c *counted) Write(p []byte) (int, error) {
	n := int64(len(p))
	if c.left -= n; c.left < 0 {
		c.left = freeEvery
		if err := checkFree(c.j.path, 0); err != nil {
			return 0, err
		}
	}
	if err := c.q.reserve(c.j, n); err != nil {
		return 0, err
	}
	written, err := c.f.Write(p)
	if err != nil {
		err = diskError(err)
	}

	return written, err
}

// reserve counts bytes that are about to be written.
func (q *Queue) reserve(j *job, n int64) error {
	q.mu.Lock()
	defer q.mu.Unlock()

	switch {
	case j.held+n > q.o.Limit:
		return q.tooLarge()
	case q.held+n > q.o.Limit:
		return q.full()
	}
	j.held += n
	q.held += n
	j.Bytes += n

	return nil
}

func (q *Queue) tooLarge() error {
	return robotmem.Errorf(robotmem.TooLarge, "file", "the recording is over %d bytes, the limit of this node; run robotmem import on its machine, or raise import_limit", q.o.Limit)
}

func (q *Queue) full() error {
	return robotmem.Errorf(robotmem.Unavailable, "file", "other recordings that wait take the %d bytes that this node allows for them together; send it again when they are imported", q.o.Limit)
}

// checkFree fails if the disk has no room for so many bytes more.
func checkFree(path string, size int64) error {
	free, err := disk.System{}.FreeBytes(path)
	if err != nil || free-size >= minFree {
		return nil //nolint:nilerr // without an answer the disk itself says when it is full
	}

	return robotmem.Errorf(robotmem.Unavailable, "file", "the disk of the memory has %d bytes free, and the recording would leave less than %d; free some, as robotmem retain does, then send it again", free, minFree)
}

// diskError explains an error of the disk.
func diskError(err error) error {
	if disk.NoSpace(err) {
		return robotmem.Errorf(robotmem.Unavailable, "file", "the disk of the memory is full; free some space, as robotmem retain does, then send it again")
	}

	return robotmem.Errorf(robotmem.Unavailable, "file", "the node cannot write what it receives beside its memory (%s); check the folder of the memory, then send it again", robotmem.Reason(err))
}

// checkName refuses a name that is not one of a file within a folder.
func checkName(field, name string) error {
	bad := name == "" || len(name) > maxName || !utf8.ValidString(name) || !filepath.IsLocal(name) || strings.ContainsAny(name, `/\`) ||
		name == "." || strings.ContainsFunc(name, unicode.IsControl)
	if bad {
		return robotmem.Errorf(robotmem.Invalid, field, "must be the name of a file without folders, up to %d bytes, such as drive.mcap, not %s", maxName, fmt.Sprintf("%.50q", name))
	}

	return nil
}
