package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/admin"
	"github.com/robotmem/robotmem-go/robotmem/internal/disk"
	"github.com/robotmem/robotmem-go/robotmem/local"
)

// rig is what a scenario works with and what came of it.
type rig struct {
	scenario
	amount
	program  string // path of the robotmem binary
	previous string // that of the previous release; built if empty
	dir      string // an empty folder of the scenario's own
	rand     *rand.Rand
	log      io.Writer
	failed   error // the scenario could not be run
	took     time.Duration

	mu             sync.Mutex
	faults         int // that really happened
	acknowledged   int // writes
	lostWrites     int // of the acknowledged
	brokenPromises int // panics, silent errors, damaged files, hangs
	findings       []string
	notes          []string // figures
}

// maxFindings bounds how many findings are printed; all are counted.
const maxFindings = 20

func (r *rig) fault() { r.mu.Lock(); defer r.mu.Unlock(); r.faults++ }

func (r *rig) acknowledge(n int) { r.mu.Lock(); defer r.mu.Unlock(); r.acknowledged += n }

// lost counts one acknowledged write that is not there as it was written.
func (r *rig) lost(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lostWrites++
	r.find("lost: "+format, args...)
}

// broken counts one broken promise.
func (r *rig) broken(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.brokenPromises++
	r.find("broken: "+format, args...)
}

func (r *rig) find(format string, args ...any) {
	if len(r.findings) < maxFindings {
		r.findings = append(r.findings, fmt.Sprintf(format, args...))
		fmt.Fprintf(r.log, "  "+format+"\n", args...)
	}
}

// violations counts what was lost or broken until now.
func (r *rig) violations() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.lostWrites + r.brokenPromises
}

// note keeps a figure for the reader.
func (r *rig) note(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.notes = append(r.notes, fmt.Sprintf(format, args...))
}

// between returns a random duration below most.
func (r *rig) between(least, most time.Duration) time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	return least + time.Duration(r.rand.Int64N(int64(most-least)))
}

func sleep(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// onDisk returns the options of a node whose files are on another disk than the computer's.
func onDisk(d disk.Disk) (o local.Options) {
	disk.Choose(&o, d)
	return o
}

// opened opens a memory as its user would, calls f and closes it.
func (r *rig) opened(ctx context.Context, path string, o local.Options, where string, f func(*local.Node)) error {
	e, err := local.Open(ctx, path, o)
	if ctx.Err() != nil {
		return errors.Join(ctx.Err(), err)
	}
	if err != nil {
		r.broken("%s: the file does not open: %v", where, err)
		return nil
	}
	f(e)
	if err := e.Close(); err != nil {
		r.broken("%s: closing: %v", where, err)
	}

	return ctx.Err()
}

// reopened opens a memory and checks it.
func (r *rig) reopened(ctx context.Context, path string, l *ledger, where string) error {
	return r.opened(ctx, path, local.Options{}, where, func(e *local.Node) { r.check(ctx, e, l, where) })
}

// check compares a memory with a ledger, reads all payloads, recalls a fact, and
// counts what doctor --deep calls failed.
func (r *rig) check(ctx context.Context, e *local.Node, l *ledger, where string) {
	found, err := listAll(ctx, e)
	if ctx.Err() != nil {
		return
	}

	if err != nil {
		r.broken("%s: list: %v", where, err)
		return
	}

	r.acknowledge(l.take())

	lost, wrong := l.compare(found)
	for _, text := range lost {
		r.lost("%s: memory %s", where, text)
	}

	for _, text := range wrong {
		r.broken("%s: memory %s", where, text)
	}

	for id, s := range found {
		if s.Data == "" || s.Status != "active" {
			continue
		}
		data, err := e.Data(ctx, &robotmem.MemoryRequest{MemoryID: id})
		if ctx.Err() == nil && (err != nil || sumOf(data.DataBase64) != s.Data) {
			r.lost("%s: the payload of memory %d is another one, or is not there: %v", where, id, err)
		}
	}

	r.recallOne(ctx, e, found, where)
	if d, err := e.Doctor(ctx, &admin.DoctorRequest{Deep: true}); ctx.Err() == nil && (err != nil || !d.Healthy) {
		r.broken("%s: doctor: %+v, %v", where, d, err)
	}
}

// recallOne asks for one fact by a word that no other has.
func (r *rig) recallOne(ctx context.Context, e *local.Node, found map[int64]state, where string) {
	for id, s := range found { // in random order
		if s.Status != "active" || s.Data != "" {
			continue
		}
		word, _, _ := strings.Cut(s.Text, " ")
		res, err := e.Recall(ctx, &robotmem.RecallRequest{Query: word, Collection: "*", MinConfidence: new(float64)})
		if err == nil && !slices.ContainsFunc(res.Memories, func(m robotmem.Memory) bool { return m.MemoryID == id }) {
			err = errors.New("it is not found")
		}
		if err != nil && ctx.Err() == nil {
			r.broken("%s: recall of %q, memory %d: %v", where, word, id, err)
		}

		return
	}
}

// listAll returns every memory of a node.
func listAll(ctx context.Context, s robotmem.Service) (map[int64]state, error) {
	all := map[int64]state{}

	req := &robotmem.ListRequest{Limit: 1000, Status: "all"}
	for {
		res, err := s.List(ctx, req)
		if err != nil {
			return nil, err
		}

		for i := range res.Memories {
			all[res.Memories[i].MemoryID] = stateOf(&res.Memories[i])
		}
		if req.Cursor = res.Next; req.Cursor == "" {
			return all, nil
		}
	}
}

func stateOf(m *robotmem.Memory) state { return state{m.MemoryID, m.Content, m.Status, m.SHA256} }

func sumOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}
