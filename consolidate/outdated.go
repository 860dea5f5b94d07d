package consolidate

import (
	"fmt"
	"slices"
	"strings"
)

// A Claim is a fact prepared for the question whether a newer fact outdates an older one: what it is
// about, and what it says of that.
//
// The rules prefer to say nothing. A mark that is not so hides a true fact; a missing one costs a line.
type Claim struct {
	Subjects   []string // names with digits or capitals: "wt-08", "dock 3"; sorted
	Words      []string // stems of the other words, without numbers, states and words of change; sorted
	Head       []string // stems before the verb that states a place or a value; sorted, empty if there is none
	Place      []string // stems of the place that the fact states; sorted
	Value      []string // stems after "is" or ":", if it states neither a place nor a number; sorted
	Names      []string // stems of words with a capital, as names have; sorted
	Elliptic   bool     // the place is stated without a verb, as things that happen are: "rockfall in drift E"
	Quantities []Quantity
	States     map[string]bool   // by dimension, one of two poles: "open": false
	StateWords []string          // stems and subjects of the clause that states the first; sorted
	Context    map[string]string // texts of the context that say what it is about
	Params     map[string]string // parameters of the context
	Rule       bool              // a rule, or pinned
	Attempt    bool              // it reports a success or a failure
	Event      bool              // it reports what happened, once more or at a time of day
}

// maxValue is the most words of a value. A longer one is a remark.
const maxValue = 3

// minAgreement is the least share of the words of the shorter fact that the longer one has.
const minAgreement = 0.6

// Outdates reports whether newer outdates older: both are about the same subject and the same attribute,
// and newer says another value.
func Outdates(older, newer *Claim) bool {
	if older.Rule != newer.Rule || !agree(older.Context, newer.Context) || differ(older.Params, newer.Params) {
		return false
	}
	return statesOpposite(older, newer) || moves(older, newer) || remeasured(older, newer) || revalued(older, newer)
}

// agree reports whether two contexts are about the same: the texts at the paths that both have are equal.
func agree(a, b map[string]string) bool {
	for path, v := range a {
		if w, both := b[path]; both && v != w {
			return false
		}
	}
	return true
}

// differ reports whether two contexts have another value of one parameter: two attempts.
func differ(a, b map[string]string) bool { return !agree(a, b) }

// statesOpposite is true for "the gate is open" and "the gate is locked".
func statesOpposite(older, newer *Claim) bool {
	opposite := false

	for dimension, pole := range older.States {
		if other, both := newer.States[dimension]; both {
			if pole == other {
				return false
			}
			opposite = true
		}
	}

	return opposite && sameHead(older.StateWords, newer.StateWords)
}

// moves is true for "the base stands at the gate" and "the base was moved to the yard".
func moves(older, newer *Claim) bool {
	if len(older.Place) == 0 || len(newer.Place) == 0 || covers(older.Place, newer.Place) ||
		covers(newer.Place, older.Place) {
		return false
	}

	// "3 picks in plant 4" and "no failures in 40 picks" count what happened, and place nothing.
	if len(older.Quantities) > 0 || len(newer.Quantities) > 0 {
		return false
	}

	return !newer.Elliptic && sameHead(older.Head, newer.Head)
}

// remeasured is true for "the jaw gap is 48 mm" and "the jaw gap is 51 mm since the refit".
func remeasured(older, newer *Claim) bool {
	if older.Attempt || newer.Attempt || newer.Event || len(older.Quantities) == 0 || len(newer.Quantities) == 0 {
		return false
	}

	changed := false

	for _, q := range older.Quantities {
		units, same := 0, false

		for _, r := range newer.Quantities {
			if q.Unit == r.Unit {
				units++
				same = same || q.Value == r.Value
			}
		}
		if same {
			// A part of it still holds: unsure.
			return false
		}
		changed = changed || units > 0
	}

	return changed && sameSubjects(older, newer) && sameAttribute(older.Words, newer.Words, older, newer)
}

// revalued is true for "the contact is Ms. Petersen" and "contact: Mr. Okafor".
func revalued(older, newer *Claim) bool {
	if older.Attempt || newer.Attempt || older.Event || newer.Event {
		return false
	}
	if renamed(older, newer) || renamed(newer, older) {
		return true
	}
	if len(older.Value) == 0 || len(newer.Value) == 0 || len(older.Value) > maxValue || len(newer.Value) > maxValue ||
		len(older.Head) < 2 {
		return false
	}
	if len(shared(older.Value, newer.Value)) > 0 || len(shared(older.Value, newer.Words)) > 0 {
		return false
	}
	// A word more in the head is another attribute: the label of pallet R5, and pallet R5.
	return 4*len(shared(older.Head, newer.Head)) > 3*max(len(older.Head), len(newer.Head))
}

// renamed is true for "night shift lead: Marta Oyelaran" and "Piet Claes leads the night shift".
func renamed(a, b *Claim) bool {
	if len(a.Value) == 0 || !covers(a.Names, a.Value) || len(b.Names) == 0 || len(shared(a.Value, b.Words)) > 0 {
		return false
	}
	named := len(shared(a.Head, b.Words))
	return named > 0 && 4*named >= 3*len(a.Head) && len(b.Names) > len(shared(a.Head, b.Names))
}

// sameSubjects reports whether two facts name the same subjects: the same names, or one of them in the
// words of the other. A fact without a name agrees with one without.
func sameSubjects(a, b *Claim) bool {
	return slices.Equal(a.Subjects, b.Subjects)
}

// sameAttribute reports whether the words of two facts, without their values, say the same attribute.
// What one says more may be a remark; if both say something that the other lacks, these may be two
// attributes.
func sameAttribute(x, y []string, a, b *Claim) bool {
	both := len(shared(x, y))
	least := min(len(x), len(y))
	named := len(a.Subjects) > 0
	// Nothing but the subject and the value.
	if least == 0 {
		return named && len(x)+len(y) <= 2
	}

	return both > 0 && float64(both) >= minAgreement*float64(least)
}

// sameHead reports whether what two facts are about is the same.
func sameHead(a, b []string) bool {
	if len(a) == 0 || len(b) == 0 {
		return false
	}
	both := len(shared(a, b))
	return both > 0 && (both == min(len(a), len(b)))
}

// covers reports whether a has every word of b.
func covers(a, b []string) bool { return len(shared(a, b)) == len(b) }

// shared returns the words that two sorted lists share.
func shared(a, b []string) (out []string) {
	for _, w := range a {
		if _, found := slices.BinarySearch(b, w); found {
			out = append(out, w)
		}
	}
	return out
}

// String shows a claim, for tests.
func (c *Claim) String() string {
	return strings.Join(c.Subjects, ",") + " | " + strings.Join(c.Words, " ") + " | head " + strings.Join(c.Head, " ") +
		fmt.Sprint(" | ", c.Quantities, " event ", c.Event, " rule ", c.Rule, " attempt ", c.Attempt, c.States) + " | place " + strings.Join(c.Place, " ") + " | value " + strings.Join(c.Value, " ")
}
