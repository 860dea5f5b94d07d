package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"

	"github.com/robotmem/robotmem-go/robotmem/backup"
)

const (
	// killTries: a kill may come too late, as no two backups take as long.
	killTries = 4
	// killBegins is how long a backup or a restore may take to begin its work.
	killBegins = time.Minute
)

// backupKills ends backups and restores in the middle of their work and looks at
// what they leave. What came before the work began, such as the loading of the
// program, is no middle: the clock runs from the moment at which the temporary
// name of what is being made is seen, and a kill counts if that name is there
// after it.
type backupKills struct {
	*rig
	path, backups string

	backupsKilled, restoresKilled int // in their middle
	late, ended                   int // killed after their moment of change, and not at all
}

// told notes how many there were. A run in which none was hit has shown nothing.
func (k *backupKills) told() error {
	k.note("killed in their middle: %d backups and %d restores; %d were killed after it and %d had ended", k.backupsKilled, k.restoresKilled, k.late, k.ended)
	if k.backupsKilled == 0 || k.restoresKilled == 0 {
		return fmt.Errorf("%d backups and %d restores were killed in their middle; there must be some of both", k.backupsKilled, k.restoresKilled)
	}
	return nil
}

// round kills a restore over the restored file and then a backup. The restore
// comes first: a backup that was not killed might remove the one it reads.
func (k *backupKills) round(ctx context.Context, b *backup.BackupReport, to string, began map[string]int) error {
	file := filepath.Join(to, "memory.db")
	for range killTries {
		middle, err := k.killed(ctx, b, file+".tmp-*", "backup", "restore", b.Path, "--to", file)
		if err != nil {
			return err
		}
		if out, err := exec.CommandContext(ctx, k.program, "doctor", "--deep", "--db", file).CombinedOutput(); err != nil && ctx.Err() == nil {
			k.broken("after a killed restore of backup %d: %v: %s", b.Number, err, out)
		}
		if middle {
			k.restoresKilled++
			break
		}
	}
	// The old file and the new one say the same, so one of them must be there.
	if err := checkFacts(ctx, k.rig, b, file, began); err != nil {
		return err
	}
	most := backupKept
	for range killTries {
		middle, err := k.killed(ctx, b, filepath.Join(k.backups, "tmp-*"), "backup", k.backups, "--db", k.path, "--keep", strconv.Itoa(backupKept))
		if err != nil {
			return err
		}
		if middle {
			k.backupsKilled++
			break
		}
		most++ // killed when it was whole, and before it removed an older one
	}
	return k.listed(ctx, most)
}

// killed starts the program, waits until a name that fits the pattern shows that
// its work has begun, and kills it. It reports whether it was still at work.
func (k *backupKills) killed(ctx context.Context, b *backup.BackupReport, pattern string, args ...string) (middle bool, err error) {
	before, err := namesOf(pattern)
	if err != nil {
		return false, err
	}
	s, err := spawn(exec.CommandContext(ctx, k.program, args...), "ROBOTMEM_HOME="+k.dir)
	if err != nil {
		return false, err
	}
	defer s.kill()
	name := ""
	for limit := time.Now().Add(killBegins); name == ""; time.Sleep(200 * time.Microsecond) {
		now, err := namesOf(pattern)
		if err != nil {
			return false, err
		}
		for n := range now {
			if !before[n] && (name == "" || n < name) { // its log has a longer name
				name = n
			}
		}
		select {
		case <-s.gone:
			if ctx.Err() == nil && !s.cmd.ProcessState.Success() {
				return false, fmt.Errorf("%v: %s: %s", args, s.cmd.ProcessState, s.stderr)
			}
			k.ended++ // before it was seen
			return false, ctx.Err()
		default:
		}
		if time.Now().After(limit) {
			return false, fmt.Errorf("%v had not begun after %s: %s", args, killBegins, s.stderr)
		}
	}
	part := k.rand.Float64()
	if k.rand.IntN(8) == 0 {
		part = 1 + 0.2*part // a little after
	}
	select {
	case <-s.gone:
	case <-time.After(time.Duration(part * b.Seconds * float64(time.Second))):
	}
	if !s.kill() {
		if ctx.Err() == nil && !s.cmd.ProcessState.Success() {
			return false, fmt.Errorf("%v: %s: %s", args, s.cmd.ProcessState, s.stderr)
		}
		k.ended++
		return false, ctx.Err()
	}
	if ctx.Err() != nil { // that is what killed it
		return false, ctx.Err()
	}
	if _, err := os.Lstat(name); err != nil {
		k.late++
		return false, nil
	}
	return true, nil
}

func namesOf(pattern string) (map[string]bool, error) {
	found, err := filepath.Glob(pattern)
	names := map[string]bool{}
	for _, name := range found {
		names[name] = true
	}
	return names, err
}

// listed asks the program which backups there are. All must be whole, and no
// more than so many.
func (k *backupKills) listed(ctx context.Context, most int) error {
	var errs bytes.Buffer
	cmd := exec.CommandContext(ctx, k.program, "backup", "list", k.backups, "--json")
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("listing backups: %w: %s", err, errs.String())
	}
	var list struct {
		Backups []backup.Backup `json:"backups"`
	}
	if err := json.Unmarshal(out, &list); err != nil {
		return fmt.Errorf("listing backups: %w: %.200s", err, out)
	}
	whole := 0
	for _, l := range list.Backups {
		if l.Problem != "" {
			k.broken("backup %s is listed and half: %s", l.Name, l.Problem)
			continue
		}
		if _, err := backup.VerifyBackup(ctx, l.Path); err != nil && !errors.Is(err, ctx.Err()) {
			k.broken("backup %s is listed and not whole: %v", l.Name, err)
		}
		whole++
	}
	if whole == 0 || whole > most {
		k.broken("%d backups are listed; there must be one, and at most %d", whole, most)
	}
	return ctx.Err()
}
