//go:build !unix

package main

// isMounted is true where disks have letters.
func isMounted(string) bool { return true }
