package record

import (
	"fmt"
	"slices"

	"github.com/robotmem/robotmem-go/classify"
	"github.com/robotmem/robotmem-go/robotmem"
)

// Where the outcome of a memory comes from.
const (
	FromCaller  = "caller"  // the field outcome of learn
	FromContext = "context" // a path that the taxonomy names
	FromText    = "text"
)

const (
	// A score from 0 to 1 up to FailureScore is a failure, one from SuccessScore on a success.
	FailureScore, SuccessScore = classify.FailureScore, classify.SuccessScore
	maxUnread                  = 40 // characters of a value in a remark
)

// OutcomeOfScore returns the outcome that a score from 0 to 1 means.
func OutcomeOfScore(score float64) string { return classify.OfScore(score) }

// setOutcome derives the outcome from the context, else from the text.
func (b *Builder) setOutcome(r *Record, inText string) {
	rules := b.Rules.Outcomes()
	from := "" // the path that stated the outcome

	var unread []string

	for _, path := range rules.AllPaths() {
		v, ok := r.Context.At(path)
		if !ok {
			continue
		}

		outcome, bad := rules.At(path, v)
		switch {
		case bad:
			data, _ := robotmem.EncodeJSON(v)
			unread = append(unread, fmt.Sprintf("%s: %s is not an outcome", path,
				robotmem.Clip(string(data), maxUnread)))
		case outcome == "":
		case r.Outcome == "":
			r.Outcome, r.OutcomeSource, from = outcome, FromContext, path
		case Opposite(outcome, r.Outcome) && r.contradiction == nil && states(rules, path):
			r.contradiction = robotmem.Errorf(robotmem.Invalid, "context",
				"says %s at %s and %s at %s; correct one of them", r.Outcome, from, outcome, path)
		}
	}

	// Values that cannot be read are remarked on only if no path states the outcome.
	if r.Outcome == "" {
		r.Unread = unread
		r.Outcome = inText
		if inText != "" {
			r.OutcomeSource = FromText
		}
	}
}

// states reports whether a path states the outcome itself. An error or a reward beside a success
// contradicts nothing: the error may have been overcome.
func states(rules *classify.Outcomes, path string) bool {
	return slices.Contains(rules.Paths, path) || slices.Contains(rules.Failed, path)
}

// OutcomeOf derives the outcome of a stored memory; both are empty if it is unknown.
func (b *Builder) OutcomeOf(content string, context robotmem.Object) (outcome, source string) {
	r := &Record{}
	r.Context = context
	b.setOutcome(r, "")
	if r.Outcome == "" {
		b.setOutcome(r, statedIn(b.Rules.Classify(content, 0)))
	}

	return r.Outcome, r.OutcomeSource
}

// statedIn returns the outcome that a text states. A rule names failures without reporting one:
// "never lift above 20 N, the glass cracked".
func statedIn(inferred classify.Result) string {
	if inferred.Category == "constraint" {
		return ""
	}
	return inferred.Outcome
}

// Opposite reports whether one outcome is success and the other failure.
func Opposite(a, b string) bool {
	return a == classify.Success && b == classify.Failure || a == classify.Failure && b == classify.Success
}

// State sets the outcome that the caller states. It fails if the context contradicts it.
func (r *Record) State(outcome string) error {
	if outcome == "" {
		return nil
	}
	if r.OutcomeSource == FromContext && Opposite(outcome, r.Outcome) {
		return robotmem.Errorf(robotmem.Invalid, "outcome", "is %s, but the context says %s; correct one of them",
			outcome, r.Outcome)
	}
	r.Outcome, r.OutcomeSource, r.Unread = outcome, FromCaller, nil
	if outcome == robotmem.OutcomeUnknown {
		r.Outcome = ""
	}

	return nil
}
