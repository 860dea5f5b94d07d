package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/robotmem/robotmem-go/robotmem/internal/budget"
	"github.com/robotmem/robotmem-go/robotmem/internal/engine"
	"github.com/robotmem/robotmem-go/robotmem/internal/store"
	"github.com/robotmem/robotmem-go/robotmem/internal/store/sqlite"
	"github.com/robotmem/robotmem-go/robotmem/local"
)

// previousRelease is the commit of the version that users have before this one.
const previousRelease = "39bbb10"

// moduleRoot is the folder of this repository.
func moduleRoot(ctx context.Context) (string, error) {
	out, err := exec.CommandContext(ctx, "go", "env", "GOMOD").Output()
	return filepath.Dir(strings.TrimSpace(string(out))), err
}

// versions runs the previous release and this one on one file. Neither opens it for
// writing while the other would misread what it writes. A refusal is a fault.
func versions(ctx context.Context, r *rig) error {
	root, err := moduleRoot(ctx)
	if err != nil {
		return err
	}

	old := &rig{program: r.previous, dir: r.dir, rand: r.rand, log: r.log}
	if old.program == "" {
		old.program = filepath.Join(r.dir, "previous")
		build := exec.CommandContext(ctx, "sh", "-c",
			fmt.Sprintf("git -C %q archive %s | tar -x -C %q && go build -o %q ./cmd/robotmem", root, previousRelease,
				r.dir, old.program))
		build.Dir, build.Stderr = r.dir, r.log
		if err := build.Run(); err != nil {
			return fmt.Errorf("building the previous release, commit %s (name its program with -previous): %w",
				previousRelease, err)
		}
	}

	refused := func(by *rig, path, want string) {
		before, berr := os.ReadFile(path)
		err := by.command(ctx, nil, "learn", "what cannot be stored", "--db", path)
		after, aerr := os.ReadFile(path)
		if err == nil || !strings.Contains(err.Error(), want) || !bytes.Equal(before, after) || berr != nil ||
			aerr != nil {
			r.broken("%s: it answers %v, want %q; the file is the same: %t", path, err, want,
				bytes.Equal(before, after))
		}
		r.fault()
	}
	for n := 0; r.faults < r.times && ctx.Err() == nil; n++ {
		path, l := filepath.Join(r.dir, fmt.Sprint("file-", n), memoryFile), newLedger()
		// Holds the file open while both learn.
		for i, by := range []*rig{old, r} {
			holder, err := by.start(ctx, path, "web", "--addr", "127.0.0.1:0")
			if err != nil {
				return err
			}
			if _, err := holder.stdout.ReadString('\n'); err != nil {
				return errors.Join(err, holder.end())
			}
			file, c, err := by.importFile(fmt.Sprintf("v%dx%d", i, n), importLines)
			if err == nil {
				err = by.command(ctx, nil, "import", file, "--collection", c.Robot, "--db", path)
			}
			if err != nil {
				return err
			}
			l.tell(c)
			if by == old {
				refused(r, path, "stop every robotmem")
			} else {
				refused(old, path, "install a newer robotmem")
			}
			holder.kill()
		}
		if err := r.reopened(ctx, path, l, path); err != nil {
			return err
		}
	}

	return errors.Join(ctx.Err(), old.failed)
}

// oldFile writes a file of an older schema version, with so many past states of one
// memory that its migration takes a while. check compares the file with what an
// undisturbed migration makes of it.
func (r *rig) oldFile(
	ctx context.Context, dir string, version, states int,
) (path string, check func(*local.Node, string), err error) {
	root, err := moduleRoot(ctx)
	if err != nil {
		return "", nil, err
	}

	in, err := os.Open(filepath.Join(root, fmt.Sprintf("robotmem/local/testdata/v%d.db.gz", version)))
	if err != nil {
		return "", nil, err
	}

	defer in.Close()
	z, err := gzip.NewReader(in)
	if err != nil {
		return "", nil, err
	}

	data, err := io.ReadAll(z)
	path, reference := filepath.Join(dir, memoryFile), filepath.Join(r.dir, fmt.Sprint("reference-", version))
	if _, there := os.Stat(reference); there != nil {
		err = errors.Join(err, os.WriteFile(reference, data, 0o600))
	}
	if err = errors.Join(err, os.MkdirAll(dir, 0o700), os.WriteFile(path, data, 0o600)); err != nil {
		return "", nil, err
	}

	c, err := sqlite.OpenTables(ctx, path,
		sqlite.ConnOptions{BusyTimeout: local.DefaultBusyTimeout, CacheKiB: budget.ReaderCacheKiB, Normal: true})
	if err != nil {
		return "", nil, err
	}

	err = c.File.Exec(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
		INSERT INTO versions SELECT v.* FROM versions v, n WHERE v.memory_id = 2`, states)
	rows, rerr := c.File.Number("SELECT count(*) FROM versions")
	if err = errors.Join(err, rerr, c.Close()); err != nil {
		return "", nil, err
	}

	l := newLedger()
	e, err := local.Open(ctx, reference, local.Options{})
	if err == nil {
		l.kept, err = listAll(ctx, e)
		err = errors.Join(err, e.Close())
	}

	return path, func(e *local.Node, where string) {
		r.check(ctx, e, l, where)

		var got int64
		err := engine.Of(e).Store.Read(ctx, func(c *store.Conn) (err error) {
			got, err = sqlite.FileOf(c).Number("SELECT count(*) FROM versions")
			return err
		})
		if ctx.Err() == nil && (err != nil || got != rows) {
			r.lost("%s: %d past states, want %d: %v", where, got, rows, err)
		}
	}, err
}
