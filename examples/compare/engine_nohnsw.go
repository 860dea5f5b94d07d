//go:build windows

package main

// hnswMissing is why coder/hnsw cannot be asked: it writes its files in a way
// that Windows lacks.
const hnswMissing = "coder/hnsw cannot be built for Windows"

// newHNSW is not called while hnswMissing gives a reason.
func newHNSW() engine { panic("hnsw: " + hnswMissing) }
