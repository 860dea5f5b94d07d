// Package rounds sets how often a randomized test repeats its cases.
package rounds

import "os"

// Of returns usual, or inCI if the environment variable CI is set, as .ci/run does.
// The usual number suffices to find a fault of the kind that the test is for; the
// number in CI also finds rare combinations.
func Of(usual, inCI int) int {
	if os.Getenv("CI") != "" {
		return inCI
	}
	return usual
}
