//go:build !amd64

package vector

const hasPopcnt = false

func below6(*uint64, *[6]uint64, int64) uint64 { panic("no POPCNT") }
