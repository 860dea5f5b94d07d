package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
)

// The part "backup": processes write without a pause while the program makes one
// backup after another. Each is restored to a file of its own and must hold all
// that was acknowledged before it was begun, and of every writer no fact without
// those before it. In between a backup and a restore are killed at any moment. A
// fault is a backup during which the memory changed.

const (
	roleStorer    = "backup-writer"
	backupWriters = 3
	// backupPayloads: every so manieth fact comes with a payload of the folder.
	backupPayloads = 20
	backupPayload  = 300_000 // bytes
	// backupPause keeps the memory at a size at which every backup can be read.
	backupPause = 50 * time.Millisecond
)

// storer learns numbered facts until it is ended, and prints each
// number once it is acknowledged.
func storer(args []string) error {
	ctx := context.Background()
	e, err := robotmem.Open(ctx, robotmem.Options{Path: args[0], BusyTimeout: time.Minute})
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
	name string
	cmd  *exec.Cmd
	mu   sync.Mutex
	last int
	errs bytes.Buffer
	done sync.WaitGroup
}

func (w *backupWriter) acknowledged() int { w.mu.Lock(); defer w.mu.Unlock(); return w.last }

func startBackupWriter(ctx context.Context, path, name string) (*backupWriter, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	w := &backupWriter{name: name, cmd: exec.CommandContext(ctx, self, path, name)}
	w.cmd.Env = append(os.Environ(), childRole+"="+roleStorer)
	w.cmd.Stderr = &w.errs
	out, err := w.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := w.cmd.Start(); err != nil {
		return nil, err
	}
	w.done.Go(func() {
		for lines := bufio.NewScanner(out); lines.Scan(); {
			w.mu.Lock()
			_, _ = fmt.Sscan(lines.Text(), &w.last) // a line cut off by the end
			w.mu.Unlock()
		}
	})
	return w, nil
}

func (w *backupWriter) stop() {
	_ = w.cmd.Process.Kill()
	w.done.Wait()
	_ = w.cmd.Wait() // killed
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
		w, err := startBackupWriter(ctx, path, string(rune('1'+i)))
		if err != nil {
			return err
		}
		writers = append(writers, w)
	}
	for _, w := range writers { // the file is made and written to
		for w.acknowledged() == 0 {
			if time.Sleep(10 * time.Millisecond); ctx.Err() != nil {
				return ctx.Err()
			}
		}
	}
	var took []float64
	killed := 0
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
		to := filepath.Join(r.dir, fmt.Sprintf("restored-%d", b.Number))
		if err := checkRestored(ctx, r, b, to, began); err != nil {
			return err
		}
		n, err := killBackups(ctx, r, b, path, backups, to)
		killed += n
		if err := errors.Join(err, os.RemoveAll(to)); err != nil {
			return err
		}
		for _, w := range writers {
			if w.cmd.ProcessState != nil || w.errs.Len() > 0 {
				return fmt.Errorf("a writer ended: %s", w.errs.String())
			}
		}
	}
	slices.Sort(took)
	r.note("a backup took %.2f s in the middle, %.2f s at most; %d backups and restores were killed", took[len(took)/2], took[len(took)-1], killed)
	return ctx.Err()
}

// backUp runs the program as its user does.
func backUp(ctx context.Context, program, path, backups string) (*robotmem.BackupReport, error) {
	var errs bytes.Buffer
	cmd := exec.CommandContext(ctx, program, "backup", backups, "--db", path, "--keep", "3", "--json")
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("a backup: %w: %s", err, errs.String())
	}
	b := &robotmem.BackupReport{}
	return b, json.Unmarshal(out, b)
}

// checkRestored compares what was restored with what was acknowledged before.
func checkRestored(ctx context.Context, r *rig, b *robotmem.BackupReport, to string, began map[string]int) error {
	if err := os.Mkdir(to, 0o700); err != nil {
		return err
	}
	file := filepath.Join(to, "memory.db")
	if out, err := exec.CommandContext(ctx, r.program, "backup", "restore", b.Path, "--to", file).CombinedOutput(); err != nil {
		r.broken("backup %d was not restored: %v: %s", b.Number, err, out)
		return nil
	}
	e, err := robotmem.Open(ctx, robotmem.Options{Path: file})
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
func heldFacts(ctx context.Context, r *rig, e *robotmem.Engine) (map[string]map[int]bool, error) {
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

// killBackups kills a backup and a restore over the restored file, each at a
// moment of its own, and looks at what they leave.
func killBackups(ctx context.Context, r *rig, b *robotmem.BackupReport, path, backups, to string) (killed int, err error) {
	moment := func() time.Duration { return time.Duration(r.rand.Float64() * 1.2 * b.Seconds * float64(time.Second)) }
	died, err := killedAfter(ctx, moment(), r.program, "backup", backups, "--db", path, "--keep", "3")
	if err != nil {
		return killed, err
	}
	killed += died
	listed, err := robotmem.ListBackups(backups)
	if err != nil {
		return killed, err
	}
	if len(listed) == 0 {
		r.broken("after a killed backup there is none")
	}
	for _, l := range listed[max(0, len(listed)-2):] {
		if _, err := robotmem.VerifyBackup(ctx, l.Path); err != nil {
			r.broken("after a killed backup %s is listed, and not whole: %v", l.Name, err)
		}
	}
	file := filepath.Join(to, "memory.db")
	if died, err = killedAfter(ctx, moment(), r.program, "backup", "restore", b.Path, "--to", file); err != nil {
		return killed, err
	}
	out, err := exec.CommandContext(ctx, r.program, "doctor", "--deep", "--db", file).CombinedOutput()
	if err != nil {
		r.broken("after a killed restore: %v: %s", err, out)
	}
	return killed + died, nil
}

// killedAfter reports 1 if the program was killed, 0 if it had ended by then.
func killedAfter(ctx context.Context, after time.Duration, program string, args ...string) (died int, err error) {
	cmd := exec.CommandContext(ctx, program, args...)
	var errs strings.Builder
	cmd.Stdout, cmd.Stderr = io.Discard, &errs
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	timer := time.AfterFunc(after, func() { _ = cmd.Process.Kill() })
	err = cmd.Wait()
	timer.Stop()
	exit := (*exec.ExitError)(nil)
	switch {
	case err == nil:
		return 0, nil
	case errors.As(err, &exit) && exit.ExitCode() == -1:
		return 1, ctx.Err()
	}
	return 0, fmt.Errorf("%s: %w: %s", strings.Join(args, " "), err, errs.String())
}
