package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/faultdisk"
	"github.com/robotmem/robotmem-go/robotmem/local"
)

// judge compares what is found after a cut with what was acknowledged before it.
type judge struct {
	*rig
	rec   *recording
	rnd   *rand.Rand
	where string
}

// judge opens a state as its user would after the power is back. Its error is
// not the node's.
func (j *judge) judge(ctx context.Context, dir string, marks []int) error {
	d, err := faultdisk.Over(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	e, err := local.Open(ctx, local.Options{Path: filepath.Join(d.Root(), memoryName), Disk: d})
	if err != nil {
		j.broken("%s: does not open: %v", j.where, err)
		for range marks {
			j.lost("%s: in a file that does not open", j.where)
		}
		return nil
	}
	defer func() {
		if err := e.Close(); err != nil {
			j.broken("%s: does not close: %v", j.where, err)
		}
	}()
	found, err := listAll(ctx, e)
	if err != nil {
		j.broken("%s: list: %v", j.where, err)
		return nil
	}
	j.compare(found, marks)
	j.readPayloads(ctx, e, found)
	j.recall(ctx, e, found)
	j.examine(ctx, e)
	j.goOn(ctx, e)
	return nil
}

// compare holds what is there against what was acknowledged, and what was on its
// way: of that each part is there whole or not at all, and none before another.
func (j *judge) compare(found map[int64]memo, marks []int) {
	acknowledged := map[int64]memo{}
	for _, n := range marks {
		for _, part := range j.rec.steps[n-1] {
			maps.Copy(acknowledged, part)
		}
	}
	var onItsWay step
	if !j.rec.loose && len(marks) < len(j.rec.steps) {
		onItsWay = j.rec.steps[len(marks)]
	}
	expected := maps.Clone(acknowledged)
	for next := 0; ; next++ {
		if maps.Equal(found, expected) {
			return
		}
		if next == len(onItsWay) {
			break
		}
		maps.Copy(expected, onItsWay[next])
	}
	may := j.possible(marks)
	faults := 0
	for id, want := range acknowledged {
		if got, ok := found[id]; !ok || got != want && !may[id][got] {
			j.lost("%s: memory %d is %+v, want %+v", j.where, id, got, want)
			faults++
		}
	}
	for id, got := range found {
		if acknowledged[id] != got && !may[id][got] {
			j.broken("%s: memory %d is %+v, which nobody wrote", j.where, id, got)
			faults++
		}
	}
	if faults == 0 && !j.rec.loose {
		j.broken("%s: a call on its way is there by half", j.where)
	}
}

// possible are the states that calls on their way may have left memories in.
func (j *judge) possible(marks []int) map[int64]map[memo]bool {
	may := map[int64]map[memo]bool{}
	for i, s := range j.rec.steps {
		if slices.Contains(marks, i+1) || !j.rec.loose && i != len(marks) {
			continue
		}
		for _, part := range s {
			for id, m := range part {
				if may[id] == nil {
					may[id] = map[memo]bool{}
				}
				may[id][m] = true
			}
		}
	}
	return may
}

// readPayloads reads all that is said to be there.
func (j *judge) readPayloads(ctx context.Context, e *local.Node, found map[int64]memo) {
	for id, m := range found {
		if m.sum == "" || m.status != "active" {
			continue
		}
		res, err := e.Data(ctx, &robotmem.DataRequest{MemoryID: id})
		if err != nil {
			j.lost("%s: the payload of memory %d: %v", j.where, id, err)
		} else if sumOf(res.DataBase64) != m.sum {
			j.lost("%s: the payload of memory %d is another one", j.where, id)
		}
	}
}

// recall asks for one of the facts by its words.
func (j *judge) recall(ctx context.Context, e *local.Node, found map[int64]memo) {
	ids := slices.Sorted(maps.Keys(found))
	if len(ids) == 0 {
		return
	}
	id := ids[j.rnd.IntN(len(ids))]
	word, _, _ := strings.Cut(found[id].text, " ")
	if found[id].status != "active" || !strings.HasPrefix(word, "power") {
		return
	}
	res, err := e.Recall(ctx, &robotmem.RecallRequest{Query: word, Collection: "*", MinConfidence: new(float64)})
	if err != nil {
		j.broken("%s: recall: %v", j.where, err)
		return
	}
	if !slices.ContainsFunc(res.Memories, func(m robotmem.Memory) bool { return m.MemoryID == id }) {
		j.broken("%s: recall of %q does not find memory %d", j.where, word, id)
	}
}

// examine has a doctor look at a share of the states.
func (j *judge) examine(ctx context.Context, e *local.Node) {
	if j.rnd.IntN(doctorEvery) == 0 {
		j.doctor(ctx, e, j.rnd.IntN(deepEvery/doctorEvery) == 0)
	}
}

func (j *judge) doctor(ctx context.Context, e *local.Node, deep bool) {
	res, err := e.Doctor(ctx, &robotmem.DoctorRequest{Deep: deep})
	if err != nil {
		j.broken("%s: doctor: %v", j.where, err)
		return
	}
	for _, c := range res.Checks {
		if c.Status == "fail" {
			j.broken("%s: %s: %s", j.where, c.Name, c.Detail)
		}
	}
}

// goOn writes.
func (j *judge) goOn(ctx context.Context, e *local.Node) {
	res, err := e.Learn(ctx, &robotmem.LearnRequest{Insight: "the power is back after 1 cut"})
	if err == nil {
		_, err = e.Get(ctx, &robotmem.GetRequest{MemoryID: res.MemoryID})
	}
	if err != nil {
		j.broken("%s: writing after it: %v", j.where, err)
	}
}

// listAll returns every memory of a node.
func listAll(ctx context.Context, s robotmem.Service) (map[int64]memo, error) {
	all := map[int64]memo{}
	req := &robotmem.ListRequest{Limit: 1000, Status: "all"}
	for {
		res, err := s.List(ctx, req)
		if err != nil {
			return nil, err
		}
		for i := range res.Memories {
			all[res.Memories[i].MemoryID] = memoOf(&res.Memories[i])
		}
		if res.Next == "" {
			break
		}
		req.Cursor = res.Next
	}
	for _, m := range all {
		if m.text == "" {
			return nil, errors.New("a memory has no text")
		}
	}
	return all, nil
}

func sumOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}
