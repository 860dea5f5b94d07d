// Package rounds sets how often a randomized test repeats its cases.
package rounds

import (
	"flag"
	"hash/crc32"
	"os"
	"runtime"
	"strconv"
	"testing"
)

// Of returns usual, or inCI if the environment variable CI is set, as .ci/run does.
// The usual number suffices to find a fault of the kind that the test is for; the
// number in CI also finds rare combinations.
func Of(usual, inCI int) int {
	if os.Getenv("CI") != "" {
		return inCI
	}
	return usual
}

// OnlyInCI skips a test that takes much time or memory, unless the environment variable CI is set.
func OnlyInCI(t testing.TB, what string) {
	t.Helper()
	if os.Getenv("CI") == "" {
		t.Skip(what + ": with CI=true")
	}
}

// SideBySide lets n parallel tests of a package run on each processor, for tests that wait more
// than they compute. TestMain calls it before it runs them; the flag -parallel overrides it.
func SideBySide(n int) {
	if err := flag.Set("test.parallel", strconv.Itoa(n*runtime.GOMAXPROCS(0))); err != nil {
		panic(err)
	}
}

// OneIn skips all tests but one in n, chosen by their names, unless the environment variable
// CI is set. It is for the cases of a suite that run elsewhere too.
func OneIn(t testing.TB, n uint32) {
	t.Helper()
	if os.Getenv("CI") == "" && crc32.ChecksumIEEE([]byte(t.Name()))%n != 0 {
		t.Skip("one case in ", n, " runs here; all with CI=true")
	}
}
