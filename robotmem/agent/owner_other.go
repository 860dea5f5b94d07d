//go:build !unix

package agent

import "io/fs"

// ownedByUs is true where temporary folders are those of a user, as on Windows.
func ownedByUs(fs.FileInfo) bool { return true }
