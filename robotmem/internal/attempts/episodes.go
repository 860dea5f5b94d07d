package attempts

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/bits-and-blooms/bitset"
	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/filter"
	"github.com/robotmem/robotmem-go/robotmem/internal/index"
	"github.com/robotmem/robotmem-go/robotmem/internal/recall"
	"github.com/robotmem/robotmem-go/robotmem/internal/store"
	"github.com/robotmem/robotmem-go/robotmem/internal/units"
)

// The outcome of an episode says nothing about one memory of it. But an episode that states exactly
// one setting of parameters, and in which nothing says the opposite of its outcome, is an attempt with
// this setting. advise and aggregate count it as one; nothing else does.

const (
	maxEpisodeMembers = 256  // an episode of more memories is no single attempt
	maxEpisodesRead   = 2000 // episodes that are examined for one answer, the newest
	paramsPrefix      = "params."
)

// Episode is an episode that counts as one attempt.
type Episode struct {
	Memory  int64          // the memory that stands for it: one that states the parameters, else its last
	Outcome string         // of the episode
	Members []int64        // all memories of the episode: together they say what was attempted
	Params  map[string]any // by path, if the context of the session states them and no memory does; else nil
}

// OfEpisodes returns the episodes that count as one attempt, by the memory that stands for each. Every such
// memory is one of the rows and has no outcome of its own.
func OfEpisodes(x *index.Index, c *store.Conn, rows []store.TimedID) (map[int64]Episode, error) {
	ends, err := x.Columns.EpisodeOutcomes(c)
	if err != nil || len(ends) == 0 {
		return nil, err
	}

	episodes := x.Columns.EpisodesOf(rows, ends, maxEpisodesRead, maxEpisodeMembers)
	if len(episodes) == 0 {
		return nil, nil
	}

	var ids []int64
	members := bitset.New(0)

	for _, e := range episodes {
		ids = append(ids, e.Members...)
		for _, id := range e.Members {
			members.Set(uint(id))
		}
	}

	paths, _, err := x.Columns.ContextPaths(c, members, index.PathsAsked{Prefix: paramsPrefix, Limit: maxAdvisePaths})
	if err != nil {
		return nil, err
	}

	names := make([]string, len(paths))
	for i := range names {
		names[i] = paths[i].Path
	}

	var columns []index.Values
	if len(names) > 0 {
		if columns, err = x.Columns.ValuesOf(c, names, ids); err != nil {
			return nil, err
		}
	}

	started, err := c.SessionContexts(slices.Collect(maps.Keys(episodes)))
	if err != nil {
		return nil, err
	}

	// The memory that stands for an episode must be among the rows, which have passed the filters.
	admitted := bitset.New(0)
	for _, row := range rows {
		admitted.Set(uint(row.ID))
	}

	// The place of a memory in the columns.
	at := map[int64]int{}
	for i, id := range ids {
		at[id] = i
	}

	out := map[int64]Episode{}

	for session, e := range episodes {
		stating, settings := settingsOf(e.Members, columns, at)
		start := paramsOf(started[session])
		attempt := Episode{Outcome: ends[session], Members: e.Members}

		hasOutcome := func(id int64) bool { return e.Stated[id] }

		switch {
		case settings == 1 && slices.ContainsFunc(stating, hasOutcome):
			// A memory with these parameters has an outcome of its own and is the attempt, so the episode is no second
			// one.
		case settings == 1:
			attempt.Memory = firstAdmitted(stating, admitted)
		case settings == 0 && len(start) > 0:
			// A memory with an outcome of its own is an attempt already, so another one stands for the episode.
			newestFirst := slices.DeleteFunc(slices.Clone(e.Members), hasOutcome)
			slices.Reverse(newestFirst)
			attempt.Memory = firstAdmitted(newestFirst, admitted)
			attempt.Params = start
		}
		if attempt.Memory != 0 {
			out[attempt.Memory] = attempt
		}
	}

	return out, nil
}

// settingsOf counts the different settings of parameters that the memories state, and returns the memories that
// state the first of these settings.
func settingsOf(members []int64, columns []index.Values, at map[int64]int) (stating []int64, settings int) {
	seen := map[string]bool{}

	for _, id := range members {
		var key strings.Builder

		for k := range columns {
			if code := columns[k].Of[at[id]]; columns[k].Values[code] != nil {
				// Equal values of a column have one code, so codes are compared.
				key.WriteString(strconv.Itoa(k) + "=" + strconv.Itoa(int(code)) + " ")
			}
		}
		if key.Len() == 0 {
			continue
		}
		if !seen[key.String()] {
			seen[key.String()] = true
			settings++
		}
		if settings == 1 {
			stating = append(stating, id)
		}
	}

	return stating, settings
}

func firstAdmitted(ids []int64, admitted *bitset.BitSet) int64 {
	for _, id := range ids {
		if admitted.Test(uint(id)) {
			return id
		}
	}
	return 0
}

// paramsOf returns the parameters of a session's context by path.
func paramsOf(context robotmem.Object) map[string]any {
	out := map[string]any{}

	for _, l := range recall.Leaves("params", context["params"]) {
		if v, found := context.At(l.Path); found && !l.Point {
			out[l.Path] = v
		}
	}

	return out
}

// overlay writes the parameters that only the context of a session states into the columns, and adds the columns
// that no memory has. named is the number of columns with parameters, which come first. overlay returns its new
// value.
func overlay(columns []index.Values, named int, attempts map[int64]Episode, ids []int64) ([]index.Values, int) {
	for i, id := range ids {
		params := attempts[id].Params

		// New columns are added in a fixed order, because the order of a map would change the answer from call to call.
		for _, path := range slices.Sorted(maps.Keys(params)) {
			k := slices.IndexFunc(columns, func(v index.Values) bool { return v.Path == path })
			if k < 0 {
				// A new column is a parameter, and these come first.
				k = named
				column := index.Values{Path: path, Values: []any{nil}, Of: make([]uint32, len(ids))}
				if q, unit, ok := filter.QuantityOf(params[path]); ok && q.Unit != "" {
					column.Unit, column.Quoted = unit, true
				}
				columns = slices.Insert(columns, k, column)
				named++
			}

			value := plainIn(params[path], columns[k].Unit)
			if value == nil {
				continue
			}
			code := slices.Index(columns[k].Values, value)
			if code < 0 {
				code = len(columns[k].Values)
				columns[k].Values = append(columns[k].Values, value)
			}
			columns[k].Of[i] = uint32(code)
		}
	}

	return columns, named
}

// plainIn returns a JSON value as a number in a unit, a text or a truth value; nil for any other.
func plainIn(v any, unit string) any {
	if q, _, ok := filter.QuantityOf(v); ok {
		// A unit may have an offset, as °C has, so two points of its scale are needed for the conversion.
		zero, _ := units.Of(0, unit)
		one, _ := units.Of(1, unit)
		if q.Unit == one.Unit && one.Value != zero.Value {
			return (q.Value - zero.Value) / (one.Value - zero.Value)
		}
	}

	switch v := v.(type) {
	case string, bool:
		return v
	case json.Number:
		if x, err := v.Float64(); err == nil {
			return x
		}
	}

	return nil
}
