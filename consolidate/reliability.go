package consolidate

import (
	"cmp"
	"fmt"
	"math"
)

// Record counts how the episodes went that used a memory. An episode that only saw the
// memory counts as a part of a use, so both are fractions.
type Record struct {
	Uses      float64 // uses in episodes with a known outcome, at least 0
	Successes float64 // at most Uses
}

// Tiers of memories by their record.
const (
	TierNew     = "new"     // used less than 3 times
	TierProven  = "proven"  // reliability of at least 0.4
	TierSuspect = "suspect" // failed mostly
	TierMixed   = "mixed"
)

const (
	tierUses    = 3   // uses from which a memory is more than new
	provenLeast = 0.4 // reliability
)

// Reliability is the lower bound of the share of successes at 95 % confidence (Wilson 1927), 0 to 1;
// 0 without uses.
func (r Record) Reliability() float64 {
	low, _ := Wilson(r.Successes, r.Uses)
	return low
}

// String returns the record as text, such as "used 6 times, 5 succeeded"; "" below half a use.
func (r Record) String() string {
	uses := math.Round(r.Uses)
	if uses == 0 {
		return ""
	}
	times := "times"
	if uses == 1 {
		times = "time"
	}

	return fmt.Sprintf("used %.0f %s, %.0f succeeded", uses, times, min(uses, math.Round(r.Successes)))
}

// Tier returns the tier of a memory.
func (r Record) Tier() string {
	switch {
	case math.Round(r.Uses) < tierUses:
		return TierNew
	case r.Reliability() >= provenLeast:
		return TierProven
	case r.Successes < r.Uses/2:
		return TierSuspect
	}

	return TierMixed
}

// tierOrder is the order of the tiers. Nothing is better or worse about a memory that is new than about a mixed one.
var tierOrder = map[string]int{TierSuspect: -1, TierProven: 1}

// CompareTiers returns a number below 0 if b is a better tier than a, above 0 if it is a worse one, otherwise 0.
func CompareTiers(a, b string) int { return cmp.Compare(tierOrder[a], tierOrder[b]) }

// Wilson returns the score interval of a share of successes at 95 % confidence (Wilson 1927), which is
// 0 to 1 without trials.
func Wilson(successes, trials float64) (low, high float64) {
	if trials <= 0 {
		return 0, 1
	}

	// Of the normal distribution, two-sided 95 %.
	const z = 1.959964
	p, zz := successes/trials, z*z/trials
	middle := (p + zz/2) / (1 + zz)
	half := z / (1 + zz) * math.Sqrt(p*(1-p)/trials+zz/(4*trials))

	return max(0, middle-half), min(1, middle+half)
}
