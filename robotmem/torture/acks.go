package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/local"
)

// acks is what the node has acknowledged. It is told in lines, which a child
// prints and a busyRobot of this process says:
//
//	stored ID TEXT [PAYLOAD]   hashes of the text and of the payload
//	updating ID TEXT           until updated, either text may be there
//	updated ID TEXT
//	forgetting ID              until forgot, it may be active or not
//	forgot ID
//
// A memory is changed by one caller alone.
type acks struct {
	mu     sync.Mutex
	kept   map[int64]*kept
	recent []int64 // stored or changed since the last check
	writes int
}

type kept struct {
	text, next string // next is that of an update under way
	payload    string
	forgetting bool
	forgotten  bool
}

func newAcks() *acks { return &acks{kept: map[int64]*kept{}} }

func hashOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// hear takes in a line and reports whether it was one of these.
func (a *acks) hear(line string) bool {
	fields := strings.Fields(line)
	if len(fields) < 2 {
		return false
	}
	id, err := strconv.ParseInt(fields[1], 10, 64)
	if err != nil {
		return false
	}
	text := ""
	if len(fields) > 2 {
		text = fields[2]
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	k := a.kept[id]
	if k == nil {
		k = &kept{}
		a.kept[id] = k
	}
	switch fields[0] {
	case "stored":
		k.text = text
		if len(fields) > 3 {
			k.payload = fields[3]
		}
		a.writes++
	case "updating":
		k.next = text
	case "updated":
		k.text, k.next = text, ""
		a.writes++
	case "forgetting":
		k.forgetting = true
	case "forgot":
		k.forgetting, k.forgotten = false, true
		a.writes++
	default:
		return false
	}
	a.recent = append(a.recent, id)
	return true
}

// take returns how many writes were acknowledged since it was last asked, and
// the memories concerned.
func (a *acks) take() (writes int, ids []int64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	writes, ids = a.writes, a.recent
	a.writes, a.recent = 0, nil
	slices.Sort(ids)
	return writes, slices.Compact(ids)
}

func (a *acks) len() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.kept)
}

func (a *acks) all() []int64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	ids := make([]int64, 0, len(a.kept))
	for id := range a.kept {
		ids = append(ids, id)
	}
	return ids
}

// sample returns some of all memories.
func (a *acks) sample(r *rand.Rand, n int) []int64 {
	ids := a.all()
	slices.Sort(ids)
	r.Shuffle(len(ids), func(i, j int) { ids[i], ids[j] = ids[j], ids[i] })
	return ids[:min(n, len(ids))]
}

// verify compares memories with what was acknowledged of them, and counts those
// that are lost.
func (a *acks) verify(ctx context.Context, r *rig, m *local.Node, ids []int64) {
	for _, id := range ids {
		if err := a.compare(ctx, m, id); err != nil && ctx.Err() == nil {
			r.lost("memory %d: %v", id, err)
		}
	}
}

// compare looks one memory up. What was under way when the writer died is
// settled by what is found.
func (a *acks) compare(ctx context.Context, m *local.Node, id int64) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	k := a.kept[id]
	if k.text == "" {
		return nil // a change was begun of what another had acknowledged
	}
	got, err := m.Get(ctx, &robotmem.GetRequest{MemoryID: id})
	if err != nil {
		return err
	}
	switch text := hashOf([]byte(got.Content)); {
	case text != k.text && text != k.next:
		return fmt.Errorf("its text is %.60q, which was never acknowledged", got.Content)
	default:
		k.text, k.next = text, ""
	}
	gone := got.Status == "invalidated"
	if gone != k.forgotten && !k.forgetting {
		return fmt.Errorf("it is %s, forgotten: %t", got.Status, k.forgotten)
	}
	k.forgotten, k.forgetting = gone, false
	if got.SHA256 != k.payload {
		return fmt.Errorf("its payload is %q, not %q", got.SHA256, k.payload)
	}
	if k.payload == "" {
		return nil
	}
	return readBack(ctx, m, id, k.payload)
}

// readBack reads a payload to its end.
func readBack(ctx context.Context, m robotmem.Streams, id int64, want string) error {
	d, err := m.OpenData(ctx, &robotmem.DataRequest{MemoryID: id})
	if err != nil {
		return err
	}
	h := sha256.New()
	_, err = io.Copy(h, d)
	if cerr := d.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return fmt.Errorf("its payload cannot be read: %w", err)
	}
	if got := hex.EncodeToString(h.Sum(nil)); got != want {
		return fmt.Errorf("its payload reads as %s, not %s", got, want)
	}
	return nil
}
