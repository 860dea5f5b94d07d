//go:build !unix

package importers

const nonBlocking = 0
