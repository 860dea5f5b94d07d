package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/faultdisk"
	"github.com/robotmem/robotmem-go/robotmem/local"
)

// Full: a disk is filled until it refuses, asked while it does, emptied and
// written to again; a disk with a quota, and a real one of a few MiB where this
// process may mount one. A refused write is a fault.

const (
	// refusalsARound is how often a full disk is tried before it gets space.
	refusalsARound = 12
	// The size of a real disk, and what it grows to.
	tmpfsSize, tmpfsMore = "3m", "64m"
)

// refusedText is what a refusal says.
var refusedText = regexp.MustCompile(`the disk is full: .* needs (about|more than) [0-9.]+ (B|KiB|MiB), [0-9.]+ (B|KiB|MiB) are free; nothing was stored`)

func full(ctx context.Context, r *rig) error {
	end := time.Now().Add(r.time)
	rounds, real := 0, 0
	for ; time.Now().Before(end) && ctx.Err() == nil; rounds++ {
		dir, err := r.folder(fmt.Sprintf("round-%d", rounds))
		if err != nil {
			return err
		}
		f := &fullRun{rig: r, known: map[int64]memo{}, where: fmt.Sprintf("round %d", rounds)}
		if rounds%2 == 1 && mountTmpfs(ctx, dir) == nil {
			real++
			f.where += " on a real disk"
			err = f.onTmpfs(ctx, dir)
		} else {
			err = f.onQuota(ctx, dir)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", f.where, err)
		}
		r.acknowledged(len(f.known))
	}
	r.note("%d disks were filled, emptied and written to again, %d of them real ones (tmpfs)", rounds, real)
	return ctx.Err()
}

// fullRun is one disk from empty to full to emptied.
type fullRun struct {
	*rig
	where  string
	engine *local.Node
	known  map[int64]memo
	n      int
}

func (f *fullRun) onQuota(ctx context.Context, dir string) error {
	d, err := faultdisk.Over(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	options := local.Options{Path: filepath.Join(d.Root(), memoryName), Disk: d}
	return f.run(ctx, options, func() error { d.Limit(100_000 + f.rand.Int64N(2_000_000)); return nil }, func() error { d.Limit(-1); return nil })
}

func (f *fullRun) onTmpfs(ctx context.Context, dir string) error {
	options := local.Options{Path: filepath.Join(dir, memoryName)}
	more := func() error {
		return exec.CommandContext(ctx, "mount", "-o", "remount,size="+tmpfsMore, dir).Run()
	}
	err := f.run(ctx, options, func() error { return nil }, more)
	return errors.Join(err, exec.CommandContext(context.WithoutCancel(ctx), "umount", "-l", dir).Run())
}

// mountTmpfs makes a folder a small disk, where this process may.
func mountTmpfs(ctx context.Context, dir string) error {
	return exec.CommandContext(ctx, "mount", "-t", "tmpfs", "-o", "size="+tmpfsSize, "tmpfs", dir).Run()
}

// run fills the disk once limit has made it small, and gives it space again with
// more.
func (f *fullRun) run(ctx context.Context, o local.Options, limit, more func() error) (err error) {
	if f.engine, err = local.Open(ctx, o); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.engine.Close()) }()
	if !f.write(ctx, 0) {
		f.broken("%s: the first write is refused", f.where)
		return nil
	}
	if err := limit(); err != nil {
		return err
	}
	for refused := 0; refused < refusalsARound && ctx.Err() == nil; {
		if !f.write(ctx, f.rand.IntN(6)) {
			refused++
			f.fault()
			f.ask(ctx, f.engine)
		}
	}
	other, err := local.Open(ctx, o) // as another process would
	if err != nil {
		f.broken("%s: it does not open while another has it open: %v", f.where, err)
	} else {
		f.ask(ctx, other)
		if err := other.Close(); err != nil {
			f.broken("%s: closing: %v", f.where, err)
		}
	}
	if err := f.reopen(ctx, o); err != nil {
		return err
	}
	if err := more(); err != nil {
		return err
	}
	for what := range 6 {
		if !f.write(ctx, what) {
			f.broken("%s: a write is refused though there is space", f.where)
		}
	}
	return f.examine(ctx, filepath.Dir(o.Path))
}

// reopen starts the node again on the full disk: what its end gave back is
// enough to begin with.
func (f *fullRun) reopen(ctx context.Context, o local.Options) error {
	if err := f.engine.Close(); err != nil {
		f.broken("%s: closing on the full disk: %v", f.where, err)
	}
	e, err := local.Open(ctx, o)
	if err != nil {
		f.broken("%s: it does not open on the full disk: %v", f.where, err)
		return err
	}
	f.engine = e
	f.ask(ctx, e)
	return nil
}

// write makes one of six kinds of write and reports whether it was stored.
func (f *fullRun) write(ctx context.Context, what int) bool {
	f.n++
	text := fmt.Sprintf("full%06d the tank holds %d litres", f.n, f.n)
	noise := func(size int) []byte {
		data := make([]byte, size)
		for i := range data {
			data[i] = byte(f.rand.Uint32())
		}
		return data
	}
	save := &robotmem.SavePerceptionRequest{Description: text, MediaType: "application/octet-stream"}
	switch what {
	case 0:
		res, err := f.engine.Learn(ctx, &robotmem.LearnRequest{Insight: text})
		if err == nil {
			f.known[res.MemoryID] = memo{text: text, status: "active"}
		}
		return f.stored(err)
	case 1:
		return f.batch(ctx, text)
	case 2:
		s, err := f.engine.StartSession(ctx, &robotmem.StartSessionRequest{Collection: "tank"})
		if f.stored(err) {
			_, err = f.engine.EndSession(ctx, &robotmem.EndSessionRequest{SessionID: s.SessionID})
			return f.stored(err)
		}
		return false
	case 3:
		save.DataBase64 = noise(1_000 + f.rand.IntN(200_000))
		res, err := f.engine.SavePerception(ctx, save)
		return f.saved(save, save.DataBase64, res, err)
	case 4:
		save.DataBase64 = noise(270_000 + f.rand.IntN(300_000))
		res, err := f.engine.SavePerception(ctx, save)
		return f.saved(save, save.DataBase64, res, err)
	}
	data := noise(270_000 + f.rand.IntN(300_000))
	res, err := f.engine.SavePerceptionFrom(ctx, save, io.MultiReader(bytes.NewReader(data)))
	return f.saved(save, data, res, err)
}

func (f *fullRun) saved(req *robotmem.SavePerceptionRequest, data []byte, res *robotmem.SavePerceptionResponse, err error) bool {
	if err == nil {
		f.known[res.MemoryID] = memo{req.Description, "active", sumOf(data)}
	}
	return f.stored(err)
}

// batch learns some facts; those that are refused say why, each.
func (f *fullRun) batch(ctx context.Context, text string) bool {
	req := &robotmem.LearnBatchRequest{}
	for i := range 40 {
		req.Items = append(req.Items, robotmem.LearnRequest{Insight: fmt.Sprintf("%s in row %d", text, i)})
	}
	res, err := f.engine.LearnBatch(ctx, req)
	if err != nil {
		return f.stored(err)
	}
	ok := true
	for i, one := range res.Results {
		if one.Error != nil {
			ok = f.stored(&robotmem.Error{Kind: one.Error.Kind, Err: errors.New(one.Error.Detail)}) && ok
			continue
		}
		f.known[one.MemoryID] = memo{text: req.Items[i].Insight, status: "active"}
	}
	return ok
}

// stored reports whether a write was, and looks at how it was refused.
func (f *fullRun) stored(err error) bool {
	if err == nil {
		return true
	}
	if !errors.Is(err, robotmem.Unavailable) || !refusedText.MatchString(err.Error()) {
		f.broken("%s: refused with %v", f.where, err)
	}
	return false
}

// ask reads while the disk is full.
func (f *fullRun) ask(ctx context.Context, e *local.Node) {
	for id, m := range f.known { // any of them
		got, err := e.Get(ctx, &robotmem.GetRequest{MemoryID: id})
		if err != nil || memoOf(got) != m {
			f.lost("%s: memory %d on the full disk: %v", f.where, id, err)
		}
		word, _, _ := strings.Cut(m.text, " ")
		res, err := e.Recall(ctx, &robotmem.RecallRequest{Query: word, Collection: "*", MinConfidence: new(float64)})
		if err != nil || res.Total == 0 {
			f.broken("%s: recall on the full disk: %+v, %v", f.where, res, err)
		}
		break
	}
	if _, err := e.List(ctx, &robotmem.ListRequest{}); err != nil {
		f.broken("%s: list on the full disk: %v", f.where, err)
	}
}

// examine compares everything once there is space again.
func (f *fullRun) examine(ctx context.Context, dir string) error {
	found, err := listAll(ctx, f.engine)
	if err != nil {
		return err
	}
	for id, want := range f.known {
		if got, ok := found[id]; !ok || got != want {
			f.lost("%s: memory %d is %+v, want %+v", f.where, id, got, want)
		}
	}
	if !maps.Equal(found, f.known) {
		f.broken("%s: %d memories are there, %d were acknowledged", f.where, len(found), len(f.known))
	}
	j := &judge{rig: f.rig, rnd: f.rand, where: f.where}
	j.readPayloads(ctx, f.engine, found)
	j.doctor(ctx, f.engine, true)
	return filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if strings.HasPrefix(filepath.Base(path), "tmp-") {
			f.broken("%s: %s is left over", f.where, filepath.Base(path))
		}
		return err
	})
}
