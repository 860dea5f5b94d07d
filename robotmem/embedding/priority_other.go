//go:build !linux

package embedding

// atLowPriority runs f. Elsewhere than on Linux a thread has no nice value of its own, so f runs at the
// priority of the program.
func atLowPriority(f func() error) error { return f() }
