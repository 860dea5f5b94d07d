package vector

import "golang.org/x/sys/cpu"

// The scan in assembly needs AVX2, the estimate POPCNT, for which the compiler checks at each use.
var hasAVX2, hasPOPCNT = cpu.X86.HasAVX2, cpu.X86.HasPOPCNT

//go:noescape
func above6(
	signs *uint64, terms *float32, q *[12]uint64, nextSigns *uint64, nextTerms *float32, large int64,
	factor, bound float32,
) (mask uint64)

//go:noescape
func counts(signs, lows, planes *uint64, words int) (ones, sum int)
