//go:build unix

package agent

import (
	"io/fs"
	"os"
	"syscall"
)

// ownedByUs reports whether a folder is this user's, and nobody else can change it.
func ownedByUs(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Getuid() && info.Mode().Perm()&0o077 == 0
}
