package vector

import "golang.org/x/sys/cpu"

// The compiler checks for POPCNT at each use, which halves the speed of the scan.
var hasAVX2 = cpu.X86.HasAVX2

//go:noescape
func above6(signs *uint64, terms *float32, q *[12]uint64, large int64, factor, bound float32) (mask uint64)
