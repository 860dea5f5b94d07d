//go:build !unix

package mounts

// isMounted is true where disks have letters.
func isMounted(string) bool { return true }
