package index

import (
	"slices"
	"strings"
	"time"

	"github.com/bits-and-blooms/bitset"
	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/lexical"
	"github.com/robotmem/robotmem-go/robotmem/internal/store"
	"github.com/robotmem/robotmem-go/robotmem/internal/subjects"
	"github.com/robotmem/robotmem-go/robotmem/internal/text"
)

// maxMentions limits the memories whose texts are compared with a name, the newest ones.
const maxMentions = 5000

// Mentions are the memories that are about a subject.
type Mentions struct {
	Set *bitset.BitSet
	// Memories are those of the set, the newest first.
	Memories []robotmem.Memory
	// Unread is the number of older memories that may be about the subject, and that were not compared.
	Unread int
}

// About returns the members of base whose text or context has one of the names. words are the posting lists of the
// snapshot that c reads.
func (x *Index) About(
	c *store.Conn, words *lexical.Index, collection string, base *bitset.BitSet, names []subjects.Name, now time.Time,
) (*Mentions, error) {
	may := bitset.New(base.Len())
	for i := range names {
		may.InPlaceUnion(x.mayName(words, collection, &names[i]))

		valued, err := x.valued(c, base, &names[i])
		if err != nil {
			return nil, err
		}
		may.InPlaceUnion(valued)
	}

	m := &Mentions{Set: bitset.New(base.Len())}
	ids := newestOf(may.Intersection(base))
	m.Unread = max(0, len(ids)-maxMentions)

	// The posting lists know words, and not which of them stand together.
	found, _, err := c.FindAll(ids[:len(ids)-m.Unread], now)
	if err != nil {
		return nil, err
	}

	for i := range found {
		for k := range names {
			if names[k].Mentions(found[i].Content, found[i].Context) {
				m.Set.Set(uint(found[i].MemoryID))
				m.Memories = append(m.Memories, found[i])
				break
			}
		}
	}

	return m, nil
}

func newestOf(set *bitset.BitSet) []int64 {
	ids := make([]int64, 0, set.Count())
	for id, ok := set.NextSet(0); ok; id, ok = set.NextSet(id + 1) {
		ids = append(ids, int64(id))
	}

	slices.Reverse(ids)

	return ids
}

// mayName returns the memories that have all words of a name, in their texts or contexts.
func (x *Index) mayName(words *lexical.Index, collection string, name *subjects.Name) *bitset.BitSet {
	having := func(stem string) *bitset.BitSet {
		set := words.Having(collection, stem)
		set.InPlaceUnion(words.Having(collection, lexical.InContext(stem)))

		return set
	}

	var all *bitset.BitSet

	for _, part := range name.Parts() {
		for _, stem := range text.Stems(part) {
			// A stop word may not be indexed.
			if text.Stop(stem) && len(name.Parts()) > 1 {
				continue
			}
			if set := having(stem); all == nil {
				all = set
			} else {
				all.InPlaceIntersection(set)
			}
		}
	}

	if all == nil {
		all = bitset.New(0)
	}

	// "gripper3" is one word of the index, without its parts.
	return all.Union(having(text.Stem(strings.Join(name.Parts(), ""))))
}

// maxSubjectPaths limits the context paths whose values are compared with a name.
const maxSubjectPaths = 500

// valued returns the members of base that have the name as a value of their context, at a path that names subjects or at
// a key that is a part of the name: {"robot": {"id": "AGV 12"}}, {"gripper": 3}. Each distinct value is compared once.
func (x *Index) valued(c *store.Conn, base *bitset.BitSet, name *subjects.Name) (*bitset.BitSet, error) {
	out := bitset.New(base.Len())
	wanted := func(path string) bool {
		return subjects.KindOfPath(path) != "" || slices.Contains(name.Parts(), subjects.KeyOf(path))
	}

	paths, _, err := x.Columns.ContextPaths(c, base, PathsAsked{Wanted: wanted, Limit: maxSubjectPaths})
	if err != nil {
		return nil, err
	}

	for _, p := range paths {
		err := withColumn(&x.Columns, c, valuesColumn+p.Path, func(v *valueColumn) {
			named := make([]bool, len(v.distinct))
			for number := range v.distinct {
				named[number] = slices.ContainsFunc(v.distinct[number].All, func(value any) bool {
					counted, ok := shown(value)
					return ok && name.IsAt(p.Path, counted.Value)
				})
			}

			for id, ok := base.NextSet(0); ok && int(id) < len(v.of); id, ok = base.NextSet(id + 1) {
				if named[v.of[id]] {
					out.Set(id)
				}
			}
		})
		if err != nil {
			return nil, err
		}
	}

	return out, nil
}
