//go:build windows

package main

// hnswMissing says why coder/hnsw is not available: it uses a way of writing files
// that Windows does not have.
const hnswMissing = "coder/hnsw cannot be built for Windows"

// newHNSW is not called, because hnswMissing is not empty.
func newHNSW() engine { panic("hnsw: " + hnswMissing) }
