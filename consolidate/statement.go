package consolidate

import (
	"cmp"
	"slices"
)

// Quantity is a number in a text with the name it is bound to and its unit.
type Quantity struct {
	Name  string // "" if the text binds it to none
	Value string // canonical decimal
	Unit  string // "" if none
}

// Statement is what a text says, ready to be compared.
type Statement struct {
	Terms      []string   // search terms, stemmed, sorted, distinct, without stop words
	Words      []string   // Terms without those that hold digits, units or negations
	Quantities []Quantity // in text order
	Negated    bool       // it holds a negating word, or one of failure
}

const (
	// DuplicateJaccard is the least share of common terms at which two texts
	// with the same numbers say the same.
	DuplicateJaccard = 0.70
	// subjectJaccard is the least share of common words at which two texts
	// with the same named parameters are about the same subject.
	subjectJaccard = 0.60
)

// Verdict is how one statement stands to another of the same collection and
// the same context.
type Verdict int

// The verdicts.
const (
	Different Verdict = iota
	Duplicate
	Contradicts
)

// Compare says how b, the newer, stands to a, and their Jaccard similarity.
func Compare(a, b Statement) (Verdict, float64) {
	similarity := Jaccard(a.Terms, b.Terms)
	sameNumbers := SameQuantities(a.Quantities, b.Quantities)
	if a.Negated == b.Negated && sameNumbers {
		if similarity >= DuplicateJaccard {
			return Duplicate, similarity
		}
		return Different, similarity
	}
	if a.Negated != b.Negated {
		// One side says no to the other: the words must agree in full.
		if sameNumbers && len(a.Words) > 0 && slices.Equal(a.Words, b.Words) {
			return Contradicts, similarity
		}
		return Different, similarity
	}
	subject := Jaccard(a.Words, b.Words)
	if Reassigns(a.Quantities, b.Quantities) && (subject >= subjectJaccard || len(a.Words) == 0 && len(b.Words) == 0) {
		return Contradicts, similarity
	}
	if len(a.Words) > 0 && slices.Equal(a.Words, b.Words) && remeasures(a.Quantities, b.Quantities) {
		return Contradicts, similarity
	}
	return Different, similarity
}

// remeasures reports whether two texts each hold one quantity that is bound to
// no name, in the same unit and with another value: "never exceed 20 N on
// glass", "never exceed 30 N on glass". A bare number counts something else:
// trial 12 does not contradict trial 13.
func remeasures(a, b []Quantity) bool {
	return len(a) == 1 && len(b) == 1 && a[0].Name == "" && b[0].Name == "" &&
		a[0].Unit != "" && a[0].Unit == b[0].Unit && a[0].Value != b[0].Value
}

// SameQuantities reports whether two texts give the same names the same
// numbers and units, and hold those without a name in the same order: "kp=10
// ki=20" is not "kp=20 ki=10", and "from 10 N to 20 N" is not the way back.
func SameQuantities(a, b []Quantity) bool { return slices.Equal(ByName(a), ByName(b)) }

// ByName sorts quantities by name; those of one name, or without one, stay in
// the order of the text.
func ByName(qs []Quantity) []Quantity {
	qs = slices.Clone(qs)
	slices.SortStableFunc(qs, func(p, q Quantity) int { return cmp.Compare(p.Name, q.Name) })
	return qs
}

// Reassigns reports whether two texts name the same parameters in the same
// units and at least one with another value.
func Reassigns(a, b []Quantity) bool {
	differs := false
	named := func(qs []Quantity) map[string]Quantity {
		m := map[string]Quantity{}
		for _, q := range qs {
			if q.Name != "" {
				m[q.Name] = q
			}
		}
		return m
	}
	x, y := named(a), named(b)
	if len(x) == 0 || len(x) != len(y) || len(a) != len(b) {
		return false
	}
	for name, p := range x {
		q, ok := y[name]
		if !ok || p.Unit != q.Unit {
			return false
		}
		differs = differs || p.Value != q.Value
	}
	return differs
}

// Jaccard is |a ∩ b| / |a ∪ b| of two sorted sets without repetitions, 0 when
// both are empty.
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
