package consolidate

import (
	"cmp"
	"slices"
)

// Quantity is a number in a text with its name and unit.
type Quantity struct {
	Name  string // "" if the text binds it to none
	Value string // canonical decimal
	Unit  string // "" if none
}

// Statement is a text prepared for comparison.
type Statement struct {
	Sequence   []string   // content sequence: words in text order, with numbers and units
	Core       []string   // Sequence without what says only that it was seen before ("again")
	Terms      []string   // search terms, stemmed, sorted, distinct, without stop words
	Words      []string   // Terms without those that hold digits, units or negations
	Quantities []Quantity // in text order
	Negated    bool       // it holds a negating word, or one of failure
}

const (
	// SimilarJaccard is the least share of common terms of similar texts.
	SimilarJaccard = 0.70
	// subjectJaccard is the least share of common words of texts about the same subject.
	subjectJaccard = 0.60
)

// Verdict is the relation of two statements of the same collection and context.
type Verdict int

// The verdicts.
const (
	Different Verdict = iota
	Duplicate
	Contradicts
)

// Compare returns the relation of b, the newer statement, to a, and their Jaccard similarity.
func Compare(a, b Statement) (Verdict, float64) {
	return verdict(a, b), Jaccard(a.Terms, b.Terms)
}

func verdict(a, b Statement) Verdict {
	sameWords := len(a.Words) > 0 && slices.Equal(a.Words, b.Words)
	// The numbers are the same if names have the same numbers and units, and those without a name are
	// in the same order: "from 10 N to 20 N" is not "from 20 N to 10 N".
	switch sameNumbers := slices.Equal(ByName(a.Quantities), ByName(b.Quantities)); {
	case a.Negated != b.Negated:
		// One statement negates the other: all words must agree.
		if sameNumbers && sameWords {
			return Contradicts
		}
	case sameNumbers:
		if len(a.Sequence) > 0 && slices.Equal(a.Sequence, b.Sequence) {
			return Duplicate
		}
	case sameWords && remeasures(a.Quantities, b.Quantities),
		Reassigns(a.Quantities, b.Quantities) &&
			(Jaccard(a.Words, b.Words) >= subjectJaccard || len(a.Words) == 0 && len(b.Words) == 0):
		return Contradicts
	}

	return Different
}

// Repeats reports whether two statements report the same, but for words such as "again". A narrower or a
// longer statement repeats nothing: "hold the glass" is not "hold the glass lid".
func Repeats(a, b Statement) bool {
	return len(a.Core) > 0 && a.Negated == b.Negated && slices.Equal(a.Core, b.Core)
}

// remeasures reports whether two texts have one quantity each, without a name, in the same unit
// and with another value: "never exceed 20 N on glass" and 30 N. A number without a unit is often
// a count: trial 12 does not contradict trial 13.
func remeasures(a, b []Quantity) bool {
	return len(a) == 1 && len(b) == 1 && a[0].Name == "" && b[0].Name == "" &&
		a[0].Unit != "" && a[0].Unit == b[0].Unit && a[0].Value != b[0].Value
}

// ByName sorts quantities by name; the order of the text breaks ties.
func ByName(qs []Quantity) []Quantity {
	qs = slices.Clone(qs)
	slices.SortStableFunc(qs, func(p, q Quantity) int { return cmp.Compare(p.Name, q.Name) })
	return qs
}

// Reassigns reports whether two texts name the same parameters and units, one with another value.
func Reassigns(a, b []Quantity) bool {
	x, y := map[string]Quantity{}, map[string]Quantity{}
	for _, q := range a {
		x[q.Name] = q
	}

	for _, q := range b {
		y[q.Name] = q
	}

	delete(x, "")
	delete(y, "")
	if len(x) == 0 || len(x) != len(y) || len(a) != len(b) {
		return false
	}

	differs := false

	for name, p := range x {
		q, ok := y[name]
		if !ok || p.Unit != q.Unit {
			return false
		}
		differs = differs || p.Value != q.Value
	}

	return differs
}

// Jaccard is |a ∩ b| / |a ∪ b| of two sorted sets without repetitions, 0 if both are empty.
func Jaccard(a, b []string) float64 {
	both := 0

	for i, j := 0, 0; i < len(a) && j < len(b); {
		switch cmp.Compare(a[i], b[j]) {
		case 0:
			both++
			i++
			j++
		case -1:
			i++
		default:
			j++
		}
	}

	if all := len(a) + len(b) - both; all > 0 {
		return float64(both) / float64(all)
	}

	return 0
}
