package record

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/robotmem/robotmem-go/classify"
	"github.com/robotmem/robotmem-go/robotmem"
)

// Where the outcome of a memory comes from.
const (
	FromCaller  = "caller"  // the field outcome of learn
	FromContext = "context" // a path that the taxonomy names
	FromText    = "text"
	FromSession = "session" // the outcome of its episode
)

const (
	// A score from 0 to 1 up to FailureScore is a failure, one from SuccessScore on a success.
	FailureScore, SuccessScore = 1.0 / 3, 2.0 / 3
	maxUnread                  = 40 // characters of a value in a remark
)

// OutcomeOfScore returns the outcome that a score from 0 to 1 means.
func OutcomeOfScore(score float64) string {
	switch {
	case score <= FailureScore:
		return classify.Failure
	case score >= SuccessScore:
		return classify.Success
	}
	return classify.Partial
}

// setOutcome derives the outcome from the context, else from the text.
func (b *Builder) setOutcome(r *Record, inText string) {
	rules, from := b.Rules.Outcomes(), ""
	var unread []string
	for _, path := range rules.Paths {
		v, ok := r.Context.At(path)
		if !ok {
			continue
		}
		outcome := outcomeOf(rules, v)
		switch {
		case outcome == "":
			data, _ := robotmem.EncodeJSON(v)
			unread = append(unread, fmt.Sprintf("%s: %s is not an outcome", path, robotmem.Clip(string(data), maxUnread)))
		case r.Outcome == "":
			r.Outcome, r.OutcomeSource, from = outcome, FromContext, path
		case Opposite(outcome, r.Outcome) && r.contradiction == nil:
			r.contradiction = robotmem.Errorf(robotmem.Invalid, "context", "says %s at %s and %s at %s; correct one of them", r.Outcome, from, outcome, path)
		}
	}
	if r.Outcome == "" {
		r.Unread = unread
		if r.Outcome = inText; inText != "" {
			r.OutcomeSource = FromText
		}
	}
}

// OutcomeOf derives the outcome of a stored memory; both are empty if it is unknown.
func (b *Builder) OutcomeOf(content string, context robotmem.Object) (outcome, source string) {
	r := &Record{}
	r.Context = context
	b.setOutcome(r, "")
	if r.Outcome == "" {
		b.setOutcome(r, b.Rules.Classify(content, 0).Outcome)
	}
	return r.Outcome, r.OutcomeSource
}

// Opposite reports whether one outcome is success and the other failure.
func Opposite(a, b string) bool {
	return a == classify.Success && b == classify.Failure || a == classify.Failure && b == classify.Success
}

func outcomeOf(rules *classify.Outcomes, v any) string {
	switch v := v.(type) {
	case bool:
		if v {
			return classify.Success
		}
		return classify.Failure
	case json.Number:
		return scoreOutcome(string(v))
	case string:
		if outcome := rules.Of(v); outcome != "" {
			return outcome
		}
		return scoreOutcome(strings.TrimSpace(v))
	}
	return ""
}

func scoreOutcome(s string) string {
	if f, err := strconv.ParseFloat(s, 64); err == nil && f >= 0 && f <= 1 {
		return OutcomeOfScore(f)
	}
	return ""
}

// State sets the outcome that the caller states. It fails if the context contradicts it.
func (r *Record) State(outcome string) error {
	if outcome == "" {
		return nil
	}
	if r.OutcomeSource == FromContext && Opposite(outcome, r.Outcome) {
		return robotmem.Errorf(robotmem.Invalid, "outcome", "is %s, but the context says %s; correct one of them", outcome, r.Outcome)
	}
	r.Outcome, r.OutcomeSource, r.Unread = outcome, FromCaller, nil
	if outcome == robotmem.OutcomeUnknown {
		r.Outcome = ""
	}
	return nil
}
