package consolidate

import (
	"math"
	"time"
)

const day = 24 * time.Hour

// DefaultRate is the part of its confidence that a memory loses in a day without use: a
// half-life of 69 days.
const DefaultRate = 0.01

// Rate is the part of its confidence that a memory loses in a day.
func Rate(category string, pinned bool) float64 {
	if pinned || Protected(category) || category == "preference" || category == "worldview" {
		return 0
	}
	return DefaultRate
}

// Now is stored × (1 − rate) ^ days, the confidence after the time since the last use. It depends
// on its arguments alone. A clock that runs backwards has no effect.
func Now(stored, rate float64, since time.Duration) float64 {
	if rate <= 0 || since <= 0 || stored <= 0 {
		return stored
	}
	if rate >= 1 {
		return 0
	}

	return stored * math.Pow(1-rate, since.Hours()/24)
}

// AtLeast is Now(stored, rate, since) >= floor, mostly without the power: by Bernoulli's
// inequality (1−r)^d is at least 1−rd for d >= 1, and at least 1−r below a day.
func AtLeast(stored, rate float64, since time.Duration, floor float64) bool {
	if stored < floor {
		return false
	}
	if rate <= 0 || since <= 0 {
		return true
	}
	if days := max(1, float64(since)/float64(day)); stored*(1-rate*days) >= floor {
		return true
	}

	return Now(stored, rate, since) >= floor
}

// Protected reports whether memories of a category are never consolidated.
func Protected(category string) bool {
	return category == "constraint" || category == "postmortem" || category == "gotcha"
}
