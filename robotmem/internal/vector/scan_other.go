//go:build !amd64

package vector

const hasAVX2 = false

func above6(*uint64, *float32, *[12]uint64, int64, float32, float32) uint64 { panic("no AVX2") }
