package recall

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/robotmem/robotmem-go/robotmem/internal/text"
)

// maxUnknown limits the unknown words that a note names.
const maxUnknown = 8

// If no memory has a word of the question, memories still answer if the nearest is above nearEnough, or if it stands
// out among the others by minSurprise and is above farFrom. The second rule is for a question in another language
// than the memories, which is farther from all of them than they are from each other. On the evaluation sets each
// rule loses one right answer of twenty; of the questions about something else, one in ten gets no answer, half of
// those in another language. If the nearest memory is above sureNear, no note names the unknown words; one in ten of
// the questions that no memory answers has such a memory.
const (
	nearEnough  = -0.8
	farFrom     = -2.5
	minSurprise = -0.7 // by Scale.surprise
	fewToStand  = 16   // among fewer memories the surprise is not computed
	sureNear    = 1
)

// noteUnknown adds a note with the content words of the question that no admitted memory has. If none of the words
// is known and no vector is near, it empties the answer, because memories that only share a stop word do not answer.
func (r *run) noteUnknown(ctx context.Context) error {
	if len(r.Content) == 0 || r.Typing != nil || r.named(ListWords) == nil {
		return nil
	}
	// Where nothing passes the filters, the words have been compared with nothing.
	if r.Narrows() && r.set.Count() == 0 {
		return nil
	}

	// A word that occurs in texts of every kind is not worth a remark, unless there is no other.
	var unknown, common []string
	known := 0

	for _, term := range r.Content {
		found, err := r.knows(ctx, term)
		switch {
		case err != nil:
			return err
		case found:
			known++
		case isClock(term): // a time of day is compared with nothing
		case text.Common(text.Stem(term)):
			common = append(common, term)
		case !partOf(term, unknown):
			unknown = append(unknown, term)
		}
	}

	if len(unknown) == 0 && known == 0 {
		unknown = common
	}
	if len(unknown) == 0 {
		return nil
	}

	of := "no memory"
	if r.Narrows() {
		of = "no memory that passes the filters"
	}

	words := strings.Join(unknown[:min(len(unknown), maxUnknown)], ", ")

	// Without vectors the nearest memory is infinitely far.
	nearest, surprise := math.Inf(-1), math.Inf(-1)
	if near := r.named(ListVector); near != nil && len(near.items) > 0 {
		best := near.items[0].Value
		nearest = r.usual.nearness(best)
		if r.usual.Of >= fewToStand {
			surprise = r.usual.surprise(best)
		}
	}

	switch {
	case nearest >= sureNear:
		return nil
	case known > 0:
		r.notes = append(r.notes, fmt.Sprintf("unknown: %s has %s; what was found may not answer that", of, words))
		return nil
	case nearest >= nearEnough, nearest >= farFrom && surprise >= minSurprise:
		r.notes = append(r.notes, fmt.Sprintf("unknown: %s has any of the words %s; "+
			"what was found is near in meaning and may not answer that", of, words))
		return nil
	}

	r.notes = append(r.notes, fmt.Sprintf("unknown: %s has any of the words %s", of, words))
	if r.filtered() {
		// The memories that pass the filters are the answer.
		return nil
	}

	// Lists of places and likeness stay, because they do not depend on the words.
	for i := range r.lists {
		if l := &r.lists[i]; l.name == ListWords || l.name == ListVector || l.name == ListText {
			l.items = nil
		}
	}

	return nil
}

// isClock reports whether a term is a time of day.
func isClock(term string) bool {
	return strings.Contains(term, ":") && strings.Trim(term, digits+":") == ""
}

// knows reports whether an admitted memory has a term of the question, or a quantity that is equal to it.
func (r *run) knows(ctx context.Context, term string) (bool, error) {
	found, err := r.src.Holds(ctx, r.Query, r.set, term)
	for _, e := range r.equivalents {
		if found || err != nil {
			break
		}
		if slices.Contains(e.Of, term) {
			found, err = r.src.Holds(ctx, r.Query, r.set, e.Term)
		}
	}

	return found, err
}

// partOf reports whether a term is a part of a compound that is named already: wt of wt-12.
func partOf(term string, named []string) bool {
	return slices.ContainsFunc(named, func(whole string) bool { return strings.Contains(whole, term) })
}
