package recall

import (
	"fmt"
	"maps"
	"strings"
	"sync"

	lru "github.com/hashicorp/golang-lru/v2"
	"github.com/robotmem/robotmem-go/consolidate"
	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/record"
	"github.com/robotmem/robotmem-go/robotmem/internal/text"
)

// subject has the features by which memories are compared. Each is computed once, when it is needed, because it
// takes time.
type subject struct {
	*robotmem.Memory
	leaves func() map[string]string // of its context
	stems  func() []string
	claim  func() *consolidate.Claim
	change func() bool // whether it says that something has changed
}

func newSubject(m *robotmem.Memory) *subject {
	s := &subject{
		Memory: m,
		leaves: sync.OnceValue(func() map[string]string { return leaves(m.Context) }),
		stems:  sync.OnceValue(func() []string { return text.Stems(m.Content) }),
		change: sync.OnceValue(func() bool { return record.NamesChange(m.Content) }),
	}
	s.claim = sync.OnceValue(func() *consolidate.Claim {
		key := fmt.Sprint(m.UID, " ", m.Version)
		if m.UID == "" {
			return record.ClaimOf(m, s.leaves())
		}
		return cached(claims, key, func(string) *consolidate.Claim { return record.ClaimOf(m, s.leaves()) })
	})

	return s
}

// matchedWords returns the words of the query that a memory has, in its text or its context. Numbers of the context
// are compared only if the query has a number.
func matchedWords(inText map[string]bool, s *subject, number bool) map[string]bool {
	out := maps.Clone(inText)
	maps.DeleteFunc(out, func(_ string, found bool) bool { return !found })
	if len(out) == len(inText) {
		return out
	}

	for path, v := range s.leaves() {
		for _, part := range []string{wordsOfPath.Replace(path), strings.ReplaceAll(v, "_", " ")} {
			// Only short texts are cached: they recur in many memories, while numbers rarely do.
			var stems []string
			if len(part) <= 64 && IsText(part) {
				stems = cached(stemsOf, part, text.Stems)
			} else if number || strings.Trim(part, digits+"+-., ") != "" {
				stems = text.Stems(part)
			}

			for _, word := range stems {
				if _, asked := inText[word]; asked {
					out[word] = true
				}
			}
		}
	}

	return out
}

const digits = "0123456789"

// The caches hold stems that many memories share, and claims, whose computation takes most of a recall of long
// texts.
var (
	stemsOf, _  = lru.New[string, []string](1 << 12)           // of paths and values of contexts
	claims, _   = lru.New[string, *consolidate.Claim](1 << 11) // by uid and version
	wordsOfPath = strings.NewReplacer("_", " ", ".", " ")
)

// Forget empties the caches, which may hold texts of a purged memory.
func Forget() {
	stemsOf.Purge()
	claims.Purge()
}

// cached returns f(key), from the cache if it is there.
func cached[V any](cache *lru.Cache[string, V], key string, f func(string) V) V {
	v, known := cache.Get(key)
	if !known {
		v = f(key)
		cache.Add(key, v)
	}
	return v
}
