//go:build !unix

package importing

const nonBlocking = 0
