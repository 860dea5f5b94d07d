package vector

import "golang.org/x/sys/cpu"

// The compiler checks for POPCNT at each use, which halves the speed of the scan.
var hasPopcnt = cpu.X86.HasPOPCNT

//go:noescape
func below6(codes *uint64, q *[6]uint64, bound int64) (mask uint64)
