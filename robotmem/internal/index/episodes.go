package index

import (
	"cmp"
	"slices"

	"github.com/bits-and-blooms/bitset"
	"github.com/robotmem/robotmem-go/robotmem/internal/recall"
)

// episodes has the active memories of each session in the order of their observation. It is
// made at the first question and follows every change.
type episodes map[uint32][]int64

// inEpisode orders two memories of an episode.
func (r *Columns) inEpisode(a, b int64) int {
	return cmp.Or(cmp.Compare(r.Rows[a].Observed, r.Rows[b].Observed), cmp.Compare(a, b))
}

// moveEpisode removes a row from its episode, or inserts it. The caller holds the lock.
func (r *Columns) moveEpisode(id int64, insert bool) {
	row := r.row(int(id))
	if r.episodes == nil || row.Session == 0 || row.Status != statusActive {
		return
	}
	at, found := slices.BinarySearchFunc(r.episodes[row.Session], id, r.inEpisode)
	switch {
	case insert && !found:
		r.episodes[row.Session] = slices.Insert(r.episodes[row.Session], at, id)
	case !insert && found:
		r.episodes[row.Session] = slices.Delete(r.episodes[row.Session], at, at+1)
	}
}

// makeEpisodes makes the episodes unless they are there.
func (r *Columns) makeEpisodes() {
	r.Mu.RLock()
	made := r.episodes != nil
	r.Mu.RUnlock()
	if made { // recalls do not wait for each other
		return
	}
	r.Mu.Lock()
	defer r.Mu.Unlock()
	if r.episodes != nil {
		return
	}
	r.episodes = episodes{}
	for id := range r.Rows {
		if row := r.row(id); row.Session != 0 && row.Status == statusActive {
			r.episodes[row.Session] = append(r.episodes[row.Session], int64(id))
		}
	}
	for _, list := range r.episodes {
		slices.SortFunc(list, r.inEpisode)
	}
}

// Around returns, for those of the memories that are in an episode, at most n of the members
// of a set, nil for all, that were observed before and after it there.
func (r *Columns) Around(ids []int64, n int, set *bitset.BitSet) map[int64]recall.Around {
	out := map[int64]recall.Around{}
	r.makeEpisodes()
	r.Mu.RLock()
	defer r.Mu.RUnlock()
	for _, id := range ids {
		if id >= int64(len(r.Rows)) || r.Rows[id].Session == 0 || r.row(int(id)).Status != statusActive {
			continue
		}
		list := r.episodes[r.Rows[id].Session]
		at, _ := slices.BinarySearchFunc(list, id, r.inEpisode)
		var sides [2][]int64
		for side, step := range []int{-1, 1} {
			for i := at + step; i >= 0 && i < len(list) && len(sides[side]) < n; i += step {
				if set == nil || set.Test(uint(list[i])) {
					sides[side] = append(sides[side], list[i])
				}
			}
		}
		out[id] = recall.Around{Before: sides[0], After: sides[1]}
	}
	return out
}
