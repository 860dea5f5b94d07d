package backup

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/robotmem/robotmem-go/robotmem/admin"
	"github.com/robotmem/robotmem-go/robotmem/internal/engine"
	"github.com/robotmem/robotmem-go/robotmem/local"
)

const every = 6 * time.Hour

// scheduledNode is a node with a fact, a clock that the test sets, and a schedule.
func scheduledNode(t *testing.T, dir string) (n *local.Node, at *time.Time, start func() *running) {
	t.Helper()
	now := time.Date(2026, 11, 2, 6, 0, 0, 0, time.UTC)
	n = openTest(t, local.Options{Clock: func() time.Time { return now }})
	learn(t, n, "the door of hall 3 opens inwards")
	return n, &now, func() *running {
		return &running{Schedule: Schedule{Options{Dir: dir, Keep: 100}, every}, n: engine.Of(n), file: engine.Of(n).Store.Files().BackupState()}
	}
}

// backupCheck returns the state in the statistics and the check of the doctor.
func backupCheck(t *testing.T, n *local.Node) (*admin.BackupState, admin.Check) {
	t.Helper()
	stats, err := n.Stats(t.Context(), &admin.StatsRequest{})
	if err != nil {
		t.Fatal(err)
	}
	d, err := n.Doctor(t.Context(), &admin.DoctorRequest{})
	if err != nil || !d.Healthy {
		t.Fatalf("doctor %+v, %v", d, err)
	}
	for _, c := range d.Checks {
		if c.Name == "backup" {
			return stats.Backup, c
		}
	}
	return stats.Backup, admin.Check{}
}

func count(t *testing.T, dir string) int {
	t.Helper()
	all, err := List(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range all {
		if _, err := Verify(t.Context(), b.Path); err != nil {
			t.Error(err)
		}
	}
	return len(all)
}

func TestScheduleFollowsTheNewestBackup(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "usb", "arm-7")
	n, at, start := scheduledNode(t, dir)
	if s, c := backupCheck(t, n); s != nil || c.Name != "" {
		t.Errorf("without a schedule: %+v, %+v", s, c)
	}
	begin, r := *at, start()
	for _, step := range []struct {
		what    string
		forward time.Duration
		restart bool
		want    int
	}{
		{"the first", 0, false, 1},
		{"soon after", time.Minute, false, 1},
		{"after the node was off for a while", 2 * time.Hour, true, 1},
		{"when it is time", 4 * time.Hour, false, 2},
		{"after it was off for a day", 24 * time.Hour, true, 3},
		{"a year forth", 365 * 24 * time.Hour, false, 4},
		{"and back", -365 * 24 * time.Hour, false, 5},
		{"soon after that", time.Hour, false, 5},
		{"an hour back", -time.Hour, true, 5},
		{"and forth", time.Hour, false, 5},
		{"a year forth while it was off", 365 * 24 * time.Hour, true, 6},
		{"and back while it was off", -365 * 24 * time.Hour, true, 7},
	} {
		if *at = at.Add(step.forward); step.restart {
			r = start()
		}
		if wait := r.step(t.Context()); wait <= 0 || wait > scheduleTick {
			t.Errorf("%s: the next step is after %s", step.what, wait)
		}
		if got := count(t, dir); got != step.want {
			t.Errorf("%s, %s after the first: %d backups, want %d", step.what, at.Sub(begin), got, step.want)
		}
	}
	backUp(t, n, Options{Dir: dir, Keep: 100}) // by hand, in the middle
	*at = at.Add(every - time.Hour)
	if start().step(t.Context()); count(t, dir) != 8 {
		t.Error("a backup made by hand does not count")
	}
	s, c := backupCheck(t, n)
	if at.Sub(s.LastSuccess).Round(time.Second) != every-time.Hour || s.EverySeconds != 6*3600 || s.Failures != 0 || s.To != dir {
		t.Errorf("the state is %+v", s)
	}
	if !strings.Contains(c.Detail, "on the disk of the memory") { // the folders for tests are on one disk
		t.Errorf("the check is %+v", c)
	}
	*at = at.Add(2 * every)
	if _, c := backupCheck(t, n); c.Status != "warn" || !strings.Contains(c.Detail, "one is due every 6h") || c.Remedy == "" {
		t.Errorf("long after the last: %+v", c)
	}
	if _, err := os.Stat(engine.Of(n).Store.Files().BackupState() + ".part"); err == nil {
		t.Error("a temporary file is left")
	}
}

func TestNodesOnOneFileShareASchedule(t *testing.T) {
	dir := t.TempDir()
	n, at, start := scheduledNode(t, dir)
	var nodes [4]*running
	for i := range nodes {
		nodes[i] = start()
	}
	for round := range 3 {
		var stepping sync.WaitGroup
		for _, r := range nodes {
			stepping.Go(func() { r.step(t.Context()) })
		}
		stepping.Wait()
		if got := count(t, dir); got != round+1 {
			t.Errorf("round %d: %d backups", round, got)
		}
		*at = at.Add(every)
	}
	unlock, err := lockBackups(dir)
	if err != nil {
		t.Fatal(err)
	}
	nodes[0].step(t.Context())
	unlock()
	if s, _ := backupCheck(t, n); s.Failures != 0 {
		t.Errorf("a backup of another process counts as a failure: %+v", s)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	nodes[1].step(ctx)
	if s, _ := backupCheck(t, n); s.Failures != 0 || count(t, dir) != 3 {
		t.Errorf("the end of the node counts as a failure: %+v", s)
	}
	nodes[1].Run(ctx, n) // returns
}

func TestAFailedBackupIsTriedAgain(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "target")
	n, at, start := scheduledNode(t, dir)
	if err := os.WriteFile(dir, nil, 0o600); err != nil { // no folder can be made
		t.Fatal(err)
	}
	r := start()
	for _, pause := range []time.Duration{time.Minute, 2 * time.Minute, 4 * time.Minute, 8 * time.Minute, 16 * time.Minute, 32 * time.Minute, time.Hour, time.Hour} {
		r.step(t.Context())
		if got := r.next.Sub(*at); got != pause {
			t.Errorf("the next attempt is after %s, want %s", got, pause)
		}
		*at = at.Add(pause - time.Second)
		r.step(t.Context())
		*at = at.Add(time.Second)
	}
	s, c := backupCheck(t, n)
	if s.Failures != 8 || !s.LastSuccess.IsZero() || !strings.Contains(s.Failure, "cannot be written") {
		t.Errorf("the state is %+v", s)
	}
	if c.Status != "warn" || !strings.Contains(c.Detail, s.Failure) || !strings.Contains(c.Remedy, "robotmem backup") {
		t.Errorf("the check is %+v", c)
	}
	if err := os.Remove(dir); err != nil {
		t.Fatal(err)
	}
	if r.step(t.Context()); r.retry != 0 || count(t, dir) != 1 {
		t.Errorf("with the cause removed: %+v", r.last)
	}
	if s, c := backupCheck(t, n); s.Failures != 8 || s.Failure != "" || strings.Contains(c.Detail, "failed") {
		t.Errorf("after a success: %+v, %+v", s, c)
	}
	if err := os.RemoveAll(dir); err != nil { // the folder is removed: it is made again
		t.Fatal(err)
	}
	*at = at.Add(every)
	if r.step(t.Context()); count(t, dir) != 1 {
		t.Errorf("the removed folder: %+v", r.last)
	}
}

// A disk for backups that is full, read-only or not mounted is named, and nothing is
// written into the folder under it.
func TestScheduleOnADiskThatGoesAway(t *testing.T) {
	disk := smallDisk(t, "4m")
	dir := filepath.Join(disk, "arm-7")
	n, at, start := scheduledNode(t, dir)
	r := start()
	next := func(status, want string) {
		t.Helper()
		*at = at.Add(every)
		r.step(t.Context())
		if s, c := backupCheck(t, n); c.Status != status || !strings.Contains(c.Detail, want) {
			t.Errorf("want %s with %q: %+v, %+v", status, want, s, c)
		}
	}
	next("ok", "the last one is of")
	if err := os.WriteFile(filepath.Join(disk, "filler"), make([]byte, 4<<20), 0o600); err == nil {
		t.Fatal("the disk is not full: the test tests nothing")
	}
	next("warn", "are needed")
	run(t, "mount", "-o", "remount,ro", disk)
	next("warn", "read-only file system")
	run(t, "mount", "-o", "remount,rw,size=64m", disk)
	next("ok", "the last one is of")
	if got := count(t, dir); got != 2 {
		t.Errorf("%d backups, want 2", got)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "tmp-*")); len(left) > 0 {
		t.Errorf("%v is left", left)
	}
	run(t, "umount", "-l", disk)
	next("warn", "mount that disk")
	if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the folder is on the memory's disk now: %v", err)
	}
	if err := exec.CommandContext(t.Context(), "mountpoint", "-q", disk).Run(); err == nil {
		t.Error("the disk is still mounted: the test tests nothing")
	}
}
