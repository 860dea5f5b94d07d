package record

import (
	"slices"
	"strings"

	"github.com/robotmem/robotmem-go/consolidate"
	"github.com/robotmem/robotmem-go/robotmem/internal/text"
)

// failing are words that state a failure. They negate a statement.
var failing = map[string]bool{
	"fail": true, "fails": true, "failed": true, "failing": true, "failure": true, "unsuccessful": true,
	"unsuccessfully": true, "失": true, "败": true,
}

// StatementOf prepares a text for comparison. Numbers with units are compared in
// the canonical unit.
func StatementOf(s string) consolidate.Statement {
	st := consolidate.Statement{Negated: text.Negations(s) > 0}
	st.Sequence, st.Core = text.Sequence(s), text.Core(s)

	var units []string

	for _, q := range text.Quantities(s) {
		q = q.Base()
		st.Quantities = append(st.Quantities, consolidate.Quantity{Name: q.Name, Value: q.Value, Unit: q.Unit})
		if q.Unit != "" {
			units = append(units, strings.ToLower(q.Unit))
		}
	}

	terms := text.BaseTerms(s)

	st.Terms, st.Words = make([]string, 0, len(terms)), make([]string, 0, len(terms))
	for _, t := range terms {
		if text.Stop(t) {
			continue
		}
		st.Negated = st.Negated || failing[t]
		// Terms get every stem. Words get those in which contradicting statements agree, which leaves out units, numbers
		// and negations.
		stem := text.Stem(t)
		st.Terms = append(st.Terms, stem)
		if !slices.Contains(units, t) && !strings.ContainsAny(t, "0123456789") && text.Negations(t) == 0 {
			st.Words = append(st.Words, stem)
		}
	}

	st.Terms, st.Words = Distinct(st.Terms), Distinct(st.Words)

	return st
}

// Duplicates and contradictions are looked up by signature and not in the text
// index. Facts of one collection and context form a group. Within a group, a sketch
// of 128 bits excludes nearly all facts that are not similar.

// Signature is the key of a fact for the search of duplicates and contradictions.
type Signature struct {
	Seq      int64 // orders the signatures of a group: a later one has a larger number
	MemoryID int64
	Sequence int64 // hash of the content sequence
	Terms    int64 // how many
	Numbers  int64 // hash of all quantities and of the negation
	Skeleton int64 // hash of the parameter names, or of the words if there are none
	Sketch   consolidate.Sketch
}

// SignatureOf returns the signature of a statement, without Seq and MemoryID.
func SignatureOf(st consolidate.Statement) Signature {
	var numbers, names []string
	for _, q := range consolidate.ByName(st.Quantities) {
		numbers = append(numbers, q.Name+" "+q.Value+" "+q.Unit)
		if q.Name != "" {
			names = append(names, q.Name+" "+q.Unit)
		}
	}

	// A quantity has three fields, so this cannot be one.
	if st.Negated {
		numbers = append(numbers, "-")
	}

	// Statements with the same named quantities can contradict each other, whatever their other words are.
	skeleton := Distinct(names)
	if len(skeleton) == 0 {
		skeleton = st.Words
	}

	return Signature{
		Sequence: Hash64(st.Sequence...), Terms: int64(len(st.Terms)), Numbers: Hash64(numbers...), Skeleton: Hash64(skeleton...),
		Sketch: consolidate.NewSketch(st.Terms),
	}
}
