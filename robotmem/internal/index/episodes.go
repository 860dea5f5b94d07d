package index

import (
	"cmp"
	"slices"

	"github.com/bits-and-blooms/bitset"
	"github.com/robotmem/robotmem-go/robotmem/internal/recall"
	"github.com/robotmem/robotmem-go/robotmem/internal/store"
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
	// This check needs only the read lock, so recalls do not wait for each other.
	if made {
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

// Around returns, for each memory that is in an episode, the memories of the episode that were observed
// just before and after it, at most n on each side. They are members of the set; nil admits all.
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

// episodeOutcomes are the outcomes of all episodes at a revision.
type episodeOutcomes struct {
	revision int64
	of       map[string]string // by session_id
}

// EpisodeOutcomes returns the last outcome that end_session gave each episode: success, failure or partial.
// Episodes without an outcome are missing. The map is shared, so callers must not change it.
func (r *Columns) EpisodeOutcomes(c *store.Conn) (map[string]string, error) {
	revision, err := c.Changes()
	if err != nil {
		return nil, err
	}

	// A later map may have outcomes that this snapshot does not contain.
	if last := r.episodeEnds.Load(); last != nil && last.revision == revision {
		return last.of, nil
	}

	of, err := c.EpisodeOutcomes()
	if err != nil {
		return nil, err
	}
	r.episodeEnds.Store(&episodeOutcomes{revision, of})

	return of, nil
}

// Episode is an episode with its active memories.
type Episode struct {
	Members []int64        // in the order of observation
	Stated  map[int64]bool // those with an outcome of their own
}

// EpisodesOf returns, by session_id, the episodes of some memories that have an outcome in ends and in which
// no memory states another outcome. It examines at most most episodes, those of the newest memories, and leaves
// out episodes with more than size memories.
func (r *Columns) EpisodesOf(rows []store.TimedID, ends map[string]string, most, size int) map[string]Episode {
	r.makeEpisodes()
	r.Mu.RLock()
	defer r.Mu.RUnlock()

	out := map[string]Episode{}
	seen := map[uint32]bool{} // by session

	// rows are in the order of their ids, so the newest memories come last.
	for i := len(rows) - 1; i >= 0 && len(seen) < most; i-- {
		row := r.row(int(rows[i].ID))
		if row.Session == 0 || row.Outcome != Unknown || seen[row.Session] {
			continue
		}
		name := r.Text(row.Session)
		outcome, ended := ends[name]
		if !ended {
			continue
		}
		seen[row.Session] = true

		members := r.episodes[row.Session]
		agrees := len(members) <= size && !slices.ContainsFunc(members, func(id int64) bool {
			own := r.row(int(id)).Outcome
			return own != Unknown && own.String() != outcome
		})
		if !agrees {
			continue
		}

		e := Episode{Members: slices.Clone(members), Stated: map[int64]bool{}}
		for _, id := range members {
			if r.row(int(id)).Outcome != Unknown {
				e.Stated[id] = true
			}
		}
		out[name] = e
	}

	return out
}
