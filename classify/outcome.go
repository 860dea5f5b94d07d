package classify

import (
	"encoding/json"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// The outcomes of what a memory reports.
const (
	Success = "success"
	Failure = "failure"
	Partial = "partial"
)

const (
	// A score from 0 to 1 up to FailureScore is a failure, one from SuccessScore on a success.
	FailureScore, SuccessScore = 1.0 / 3, 2.0 / 3
	// failureReward is the largest reward that states a failure. A reward just below 0 is often a
	// distance, and one from 0 on means success in some tasks and nothing in others.
	failureReward = -1.0
)

// Outcomes are the rules for outcomes in contexts. Every path is a dot path.
type Outcomes struct {
	Paths   []string // may hold an outcome in any form, the most reliable first
	Failed  []string // flags that are true for a failure
	Errors  []string // hold an error, or nothing
	Rates   []string // hold the rate of successes
	Rewards []string // hold a reward

	Words map[string]string // from a value in lower case to its outcome

	all *Rules // whose patterns read a remark
}

// AllPaths returns every path at which an outcome may stand, those that count first first.
func (o *Outcomes) AllPaths() []string {
	return slices.Concat(o.Paths, o.Failed, o.Errors, o.Rates, o.Rewards)
}

// OfScore returns the outcome that a score from 0 to 1 means.
func OfScore(score float64) string {
	switch {
	case score <= FailureScore:
		return Failure
	case score >= SuccessScore:
		return Success
	}

	return Partial
}

// At returns the outcome that a value at a path states, empty if it states none. unread is true if
// the value should state an outcome and cannot be read.
func (o *Outcomes) At(path string, v any) (outcome string, unread bool) {
	switch {
	case slices.Contains(o.Paths, path):
		outcome = o.ofValue(v, 1)
		return outcome, outcome == ""

	case slices.Contains(o.Failed, path):
		// The opposite of what the value says: failed: true is a failure.
		switch o.ofValue(v, 1) {
		case Success:
			return Failure, false
		case Failure:
			return Success, false
		}

		return "", true

	case slices.Contains(o.Errors, path):
		return ofError(v), false

	case slices.Contains(o.Rates, path):
		outcome = o.ofValue(v, 100)
		return outcome, outcome == ""

	case slices.Contains(o.Rewards, path):
		if reward, ok := number(v); ok && reward <= failureReward {
			return Failure, false
		}
	}

	return "", false
}

// ofValue reads a flag, a word, or a score: a number from 0 to 1, one up to most that is a
// percentage, "60 %" or "3/5".
func (o *Outcomes) ofValue(v any, most float64) string {
	switch v := v.(type) {
	case bool:
		if v {
			return Success
		}
		return Failure
	case string:
		if outcome := o.Of(v); outcome != "" {
			return outcome
		}
		if score, ok := share(v); ok {
			return OfScore(score)
		}
	}

	x, ok := number(v)
	switch {
	case ok && x >= 0 && x <= 1:
		return OfScore(x)
	case ok && x > 1 && x <= most:
		return OfScore(x / 100)
	}

	return ""
}

// Of returns the outcome that a text states, empty if it states none: a word ("slipped"), a remark
// that the patterns for texts read ("arm slipped off"), or a word with a remark ("failed: at 3 s",
// "aborted by operator").
func (o *Outcomes) Of(text string) string {
	text = strings.ToLower(strings.TrimSpace(text))
	if found, ok := o.Words[text]; ok {
		return found
	}

	if end := strings.IndexAny(text, ":;,(（：，；"); end > 0 {
		if found := o.Words[strings.TrimSpace(text[:end])]; found != "" {
			return found
		}
	}

	if o.all != nil {
		if found := o.all.Classify(text, 0).Outcome; found != "" {
			return found
		}
	}

	// "no" and "yes" begin sentences that state neither: "no contact yet".
	first, _, more := strings.Cut(text, " ")
	if more && len(first) > len("yes") {
		return o.Words[first]
	}

	return ""
}

// noError are texts at the path of an error that say that there was none.
var noError = []string{
	"", "0", "none", "null", "nil", "no", "false", "ok", "n/a", "na", "-", "no error", "success", "无", "没有", "keine",
	"keiner", "なし",
}

// ofError returns Failure for a value that names an error. That there was none states no success.
func ofError(v any) string {
	switch v := v.(type) {
	case bool:
		if v {
			return Failure
		}
	case string:
		if !slices.Contains(noError, strings.ToLower(strings.TrimSpace(v))) {
			return Failure
		}
	case map[string]any:
		if len(v) > 0 {
			return Failure
		}
	case []any:
		if len(v) > 0 {
			return Failure
		}
	}

	if code, ok := number(v); ok && code != 0 {
		return Failure
	}

	return ""
}

func number(v any) (float64, bool) {
	var text string

	switch v := v.(type) {
	case json.Number:
		text = string(v)
	case float64:
		return v, !math.IsNaN(v)
	case string:
		text = strings.TrimSpace(v)
	default:
		return 0, false
	}
	x, err := strconv.ParseFloat(text, 64)

	return x, err == nil && !math.IsNaN(x) && !math.IsInf(x, 0)
}

// parts matches "3/5", "3 of 5" and "60 %".
var parts = regexp.MustCompile(`^(\d{1,9})\s*(?:/|of|von|out of)\s*(\d{1,9})$|^(\d{1,3}(?:\.\d+)?)\s*[%％]$`)

// share reads a share of successes, 0 to 1.
func share(text string) (float64, bool) {
	m := parts.FindStringSubmatch(strings.ToLower(strings.TrimSpace(text)))
	if m == nil {
		return 0, false
	}

	if m[3] != "" {
		percent, err := strconv.ParseFloat(m[3], 64)
		return percent / 100, err == nil && percent <= 100
	}
	some, _ := strconv.ParseFloat(m[1], 64)
	all, _ := strconv.ParseFloat(m[2], 64)

	return some / all, all > 0 && some <= all
}
