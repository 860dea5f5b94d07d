//go:build !amd64

package vector

const hasAVX2, hasPOPCNT = false, false

func above6(*uint64, *float32, *[12]uint64, *uint64, *float32, int64, float32, float32) uint64 {
	panic("no AVX2")
}

func counts(*uint64, *uint64, *uint64, int) (ones, sum int) { panic("no POPCNT") }
