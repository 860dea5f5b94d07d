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

// InCI reports whether the environment variable CI is set, as .ci/run does.
func InCI() bool { return os.Getenv("CI") != "" }

// Of returns usual, or inCI in CI. The usual number suffices to find a fault of the kind
// that the test is for; the number in CI also finds rare combinations.
func Of(usual, inCI int) int {
	if InCI() {
		return inCI
	}
	return usual
}

// OnlyInCI skips a test that takes much time or memory, except in CI.
func OnlyInCI(t testing.TB, what string) {
	t.Helper()
	if !InCI() {
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

// OneIn skips all tests but one in n, chosen by their names, except in CI. It is for the
// cases of a suite that run elsewhere too.
func OneIn(t testing.TB, n uint32) {
	t.Helper()
	if crc32.ChecksumIEEE([]byte(t.Name()))%n != 0 {
		OnlyInCI(t, "some cases of the suite run here; this one")
	}
}
