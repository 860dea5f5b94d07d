package vector

import "golang.org/x/sys/cpu"

// The scan in assembly needs AVX2. Without it the compiler checks for POPCNT at each use, which halves the speed.
var hasAVX2 = cpu.X86.HasAVX2

//go:noescape
func above6(signs *uint64, terms *float32, q *[12]uint64, large int64, factor, bound float32) (mask uint64)
