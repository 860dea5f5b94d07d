package robotmem

import (
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Judging is implemented by a Service that knows the words for outcomes of its taxonomy. For any other Service the
// words of outcomeWords count.
type Judging interface {
	// OutcomeOf returns the outcome that a text states, empty if it states none.
	OutcomeOf(text string) string
}

// outcomes are the values of a field outcome.
var outcomes = []string{OutcomeSuccess, OutcomeFailure, OutcomePartial, OutcomeUnknown}

// outcomeRule is the rule of a field with an outcome.
var outcomeRule = "oneof=" + strings.Join(outcomes, " ")

// outcomeChoice names the outcomes in remarks and errors.
const outcomeChoice = "success, failure, partial or unknown"

// outcomeWords maps the most frequent words of the taxonomy to outcomes, for callers that do not reach it.
var outcomeWords = func() map[string]string {
	all := map[string]string{}

	for outcome, list := range map[string]string{
		OutcomeSuccess: "succeeded successful ok okay yes true pass passed done complete completed worked works held " +
			"solved fixed good",
		OutcomeFailure: "failed fail unsuccessful no false error slipped slip dropped crushed collided collision crashed " +
			"missed jammed stuck stalled aborted cancelled canceled rejected timeout lost blocked broken bad",
		OutcomePartial: "partially partly incomplete mixed degraded",
		OutcomeUnknown: "unclear undecided none",
	} {
		for word := range strings.FieldsSeq(list) {
			all[word] = outcome
		}
	}

	return all
}()

// A score from 0 to 1 up to failureScore is a failure, one from successScore on a success.
const failureScore, successScore = 1.0 / 3, 2.0 / 3

// shares matches "3/5", "3 of 5" and "60 %".
var shares = regexp.MustCompile(`^(\d{1,9})\s*(?:/|of|out of)\s*(\d{1,9})$|^(\d{1,3}(?:\.\d+)?)\s*%$`)

// outcomeOf returns the outcome that a value states, empty if it states none: one of outcomes, a word
// for it, a flag, a score from 0 to 1, or a share such as "3/5". score is that of a number.
func (r *requestReader) outcomeOf(v any) (outcome string, score *float64) {
	switch v := v.(type) {
	case bool:
		if v {
			return OutcomeSuccess, nil
		}
		return OutcomeFailure, nil

	case json.Number:
		return outcomeOfScore(string(v))

	case string:
		word := strings.ToLower(strings.TrimSpace(v))
		if slices.Contains(outcomes, word) {
			return word, nil
		}
		// Numbers and shares come before words, because only they have a score.
		if outcome, score = outcomeOfScore(word); outcome != "" {
			return outcome, score
		}
		if judge, ok := r.service.(Judging); ok {
			if outcome = judge.OutcomeOf(word); outcome != "" {
				return outcome, nil
			}
		}

		return outcomeWords[word], nil
	}

	return "", nil
}

// outcomeOfScore reads a score from 0 to 1, as a number or a share.
func outcomeOfScore(text string) (outcome string, score *float64) {
	x, err := strconv.ParseFloat(text, 64)

	// A share of 0, such as 1/0, divides to infinity or NaN, which the range below refuses.
	if share := shares.FindStringSubmatch(text); share != nil {
		some, all := share[1], share[2]
		if share[3] != "" {
			some, all = share[3], "100"
		}
		whole, _ := strconv.ParseFloat(all, 64)
		x, err = strconv.ParseFloat(some, 64)
		x /= whole
	}

	switch {
	case err != nil || !(x >= 0 && x <= 1): // also NaN
		return "", nil
	case x <= failureScore:
		return OutcomeFailure, &x
	case x >= successScore:
		return OutcomeSuccess, &x
	}

	return OutcomePartial, &x
}

// outcomeField reads the value of a field with an outcome. A value that states none stays as text, and the
// validation refuses it, or the request ignores it.
func (r *requestReader) outcomeField(name string, raw View) (string, error) {
	v, err := raw.any()
	if err != nil {
		return "", err
	}

	// An exact value needs no note.
	text, isText := v.(string)
	if isText && slices.Contains(outcomes, text) {
		return text, nil
	}

	outcome, score := r.outcomeOf(v)
	switch {
	case outcome != "":
		r.score = score
		r.note(name, "%s taken as %s", abbreviate(string(raw)), outcome)
		return outcome, nil
	case isText:
		return text, nil
	}

	return string(raw), nil
}

// noteNoOutcome names a text that no outcome equals.
func (r *requestReader) noteNoOutcome(field, text string) {
	const there = "there are success, failure, partial and unknown"
	r.note(field, "%q is no outcome and matches nothing; %s", abbreviate(text), there)
}

// outcomeInFilter reads words for outcomes in the condition on an outcome, and names those that no
// memory can have.
func (r *requestReader) outcomeInFilter(field, path string, v any) any {
	switch v := v.(type) {
	case string:
		if slices.Contains(outcomes, v) {
			return v
		}

		outcome, _ := r.outcomeOf(v)
		if outcome == "" {
			// It stays, so that the filter matches nothing. Without it the answer would include every outcome.
			r.noteNoOutcome(field, v)
			return v
		}
		r.note(field, "%q at %s taken as %s", abbreviate(v), path, outcome)

		return outcome

	case []any:
		for i := range v {
			v[i] = r.outcomeInFilter(field, path, v[i])
		}

	case map[string]any:
		// Other operators, such as $exists, do not compare with an outcome.
		for _, op := range []string{"$eq", "$in", "$ne", "$nin"} {
			if operand, ok := v[op]; ok {
				v[op] = r.outcomeInFilter(field, path, operand)
			}
		}
		if inner, ok := v["$not"]; ok {
			v["$not"] = r.outcomeInFilter(field, path, inner)
		}
	}

	return v
}
