package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/backup"
	"github.com/robotmem/robotmem-go/robotmem/local"
)

// The part "backup": processes write without a pause while the program makes one
// backup after another. Each is restored to a file of its own and must hold all
// that was acknowledged before it was begun, and of every writer no fact without
// those before it. In between a backup and a restore are killed in the middle of their work. A
// fault is a backup during which the memory changed.

const (
	roleStorer    = "backup-writer"
	backupWriters = 3
	// backupPayloads: every so manieth fact comes with a payload of the folder.
	backupPayloads = 20
	backupPayload  = 300_000 // bytes
	// backupPause keeps the memory at a size at which every backup can be read.
	backupPause = 50 * time.Millisecond
	// backupFirst is how long a writer may take to make the file and write to it.
	backupFirst = time.Minute
	backupKept  = 3
)

// storer learns numbered facts until it is ended, and prints each
// number once it is acknowledged.
func storer(args []string) error {
	ctx := context.Background()
	e, err := local.Open(ctx, local.Options{Path: args[0], BusyTimeout: time.Minute})
	if err != nil {
		return err
	}
	for n := 1; ; n++ {
		fact := backupFact(args[1], n)
		if n%backupPayloads == 0 {
			_, err = e.SavePerception(ctx, &robotmem.SavePerceptionRequest{Description: fact, DataBase64: backupData(args[1], n)})
		} else {
			var res *robotmem.LearnResponse
			if res, err = e.Learn(ctx, &robotmem.LearnRequest{Insight: fact}); err == nil && res.Status != "created" {
				err = fmt.Errorf("fact %d is a %s", n, res.Status)
			}
		}
		if err != nil {
			return err
		}
		fmt.Println(n)
		time.Sleep(backupPause)
	}
}

// backupFact differs from every other in a number, so that none is a duplicate.
func backupFact(writer string, n int) string {
	return fmt.Sprintf("writer %s saw shelf %d", writer, n)
}

func backupData(writer string, n int) []byte {
	data := make([]byte, backupPayload)
	_, _ = rand.NewChaCha8([32]byte{writer[0], byte(n), byte(n >> 8), byte(n >> 16)}).Read(data) // never fails
	return data
}

// backupWriter is a writing process and how far it has come.
type backupWriter struct {
	*spawned
	name string
	last atomic.Int64
	read sync.WaitGroup
}

func (w *backupWriter) acknowledged() int { return int(w.last.Load()) }

func startBackupWriter(ctx context.Context, r *rig, path, name string) (*backupWriter, error) {
	s, err := r.startRole(ctx, roleStorer, path, name)
	if err != nil {
		return nil, err
	}
	w := &backupWriter{spawned: s, name: name}
	w.read.Go(func() {
		for {
			line, err := w.stdout.ReadString('\n')
			if err != nil {
				return // a line cut off by the end says nothing
			}
			if n, err := strconv.Atoi(strings.TrimSpace(line)); err == nil {
				w.last.Store(int64(n))
			}
		}
	})
	return w, nil
}

// ended is the error of a writer that ended by itself, as none should.
func (w *backupWriter) ended() error {
	select {
	case <-w.gone:
		return fmt.Errorf("writer %s ended: %s: %s", w.name, w.cmd.ProcessState, w.stderr)
	default:
		return w.fellOver()
	}
}

func (w *backupWriter) stop() {
	w.kill()
	w.read.Wait()
}

// awaitFirst waits until the writer has made the file and written to it.
func (w *backupWriter) awaitFirst(ctx context.Context) error {
	for limit := time.Now().Add(backupFirst); w.acknowledged() == 0; time.Sleep(10 * time.Millisecond) {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := w.ended(); err != nil {
			return err
		}
		if time.Now().After(limit) {
			return fmt.Errorf("writer %s had nothing acknowledged within %s: %s", w.name, backupFirst, w.stderr)
		}
	}
	return nil
}

func runBackup(ctx context.Context, r *rig) error {
	path, backups := filepath.Join(r.dir, "memory.db"), filepath.Join(r.dir, "backups")
	var writers []*backupWriter
	defer func() {
		total := 0
		for _, w := range writers {
			w.stop()
			total += w.acknowledged()
		}
		r.acknowledged(total)
	}()
	for i := range backupWriters {
		w, err := startBackupWriter(ctx, r, path, string(rune('1'+i)))
		if err != nil {
			return err
		}
		writers = append(writers, w)
	}
	for _, w := range writers {
		if err := w.awaitFirst(ctx); err != nil {
			return err
		}
	}
	var took []float64
	kills := &backupKills{rig: r, path: path, backups: backups}
	for r.Faults < r.times && ctx.Err() == nil {
		began := map[string]int{}
		for _, w := range writers {
			began[w.name] = w.acknowledged()
		}
		b, err := backUp(ctx, r.program, path, backups)
		if err != nil {
			return err
		}
		took = append(took, b.Seconds)
		if b.Meanwhile > 0 {
			r.fault()
		}
		if err := kills.listed(ctx, backupKept); err != nil {
			return err
		}
		to := filepath.Join(r.dir, fmt.Sprintf("restored-%d", b.Number))
		if err := checkRestored(ctx, r, b, to, began); err != nil {
			return err
		}
		if err := errors.Join(kills.round(ctx, b, to, began), os.RemoveAll(to)); err != nil {
			return err
		}
		for _, w := range writers {
			if err := w.ended(); err != nil && ctx.Err() == nil {
				return err
			}
		}
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	slices.Sort(took)
	r.note("a backup took %.2f s in the middle, %.2f s at most", took[len(took)/2], took[len(took)-1])
	return kills.told()
}

// backUp runs the program as its user does.
func backUp(ctx context.Context, program, path, backups string) (*backup.BackupReport, error) {
	var errs bytes.Buffer
	cmd := exec.CommandContext(ctx, program, "backup", backups, "--db", path, "--keep", strconv.Itoa(backupKept), "--json")
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("a backup: %w: %s", err, errs.String())
	}
	b := &backup.BackupReport{}
	return b, json.Unmarshal(out, b)
}

// checkRestored compares what was restored with what was acknowledged before.
func checkRestored(ctx context.Context, r *rig, b *backup.BackupReport, to string, began map[string]int) error {
	if err := os.Mkdir(to, 0o700); err != nil {
		return err
	}
	file := filepath.Join(to, "memory.db")
	if out, err := exec.CommandContext(ctx, r.program, "backup", "restore", b.Path, "--to", file).CombinedOutput(); err != nil {
		if ctx.Err() != nil { // it was stopped
			return ctx.Err()
		}
		r.broken("backup %d was not restored: %v: %s", b.Number, err, out)
		return nil
	}
	return checkFacts(ctx, r, b, file, began)
}

// checkFacts opens a restored file and compares what it holds.
func checkFacts(ctx context.Context, r *rig, b *backup.BackupReport, file string, began map[string]int) error {
	e, err := local.Open(ctx, local.Options{Path: file})
	if err != nil {
		r.broken("backup %d, restored, does not open: %v", b.Number, err)
		return nil
	}
	defer func() {
		if err := e.Close(); err != nil {
			r.broken("backup %d, restored, does not close: %v", b.Number, err)
		}
	}()
	d, err := e.Doctor(ctx, &robotmem.DoctorRequest{Deep: true})
	if err != nil {
		return err
	}
	if !d.Healthy {
		r.broken("backup %d, restored, is not healthy: %+v", b.Number, d.Checks)
	}
	held, err := heldFacts(ctx, r, e)
	if err != nil {
		return err
	}
	for _, writer := range slices.Sorted(maps.Keys(began)) {
		top := began[writer]
		for n := range held[writer] {
			top = max(top, n)
		}
		for n := 1; n <= top; n++ {
			switch {
			case held[writer][n]:
			case n <= began[writer]:
				r.lost("backup %d lacks fact %d of writer %s, acknowledged before it was begun", b.Number, n, writer)
			default:
				r.broken("backup %d holds fact %d of writer %s and not %d, which was before it", b.Number, top, writer, n)
			}
		}
	}
	return nil
}

// heldFacts are the numbers of each writer's facts. Every payload is read.
func heldFacts(ctx context.Context, r *rig, e *local.Node) (map[string]map[int]bool, error) {
	held := map[string]map[int]bool{}
	for req := (&robotmem.ListRequest{Limit: 100, Collection: "*"}); ; {
		page, err := e.List(ctx, req)
		if err != nil {
			return nil, err
		}
		for _, m := range page.Memories {
			var writer string
			var n int
			if _, err := fmt.Sscanf(m.Content, "writer %s saw shelf %d", &writer, &n); err != nil || m.Content != backupFact(writer, n) {
				r.broken("a restored memory reads %q", m.Content)
				continue
			}
			if held[writer] == nil {
				held[writer] = map[int]bool{}
			}
			held[writer][n] = true
			if n%backupPayloads > 0 {
				continue
			}
			data, err := e.Data(ctx, &robotmem.DataRequest{MemoryID: m.MemoryID})
			if err != nil || !bytes.Equal(data.DataBase64, backupData(writer, n)) {
				r.lost("the payload of fact %d of writer %s did not come back: %v", n, writer, err)
			}
		}
		if len(page.Memories) < req.Limit {
			return held, nil
		}
		req.BeforeID = page.Memories[len(page.Memories)-1].MemoryID
	}
}
