//go:build unix

package mounts

import (
	"os"
	"path/filepath"
	"syscall"
)

// isMounted reports whether another disk begins at a folder.
func isMounted(folder string) bool {
	device := func(path string) (uint64, bool) {
		info, err := os.Stat(path)
		if err != nil {
			return 0, false
		}
		sys, ok := info.Sys().(*syscall.Stat_t)
		if !ok {
			return 0, false
		}

		return uint64(sys.Dev), true //nolint:gosec,unconvert // signed on macOS
	}
	own, found := device(folder)
	above, _ := device(filepath.Dir(folder))

	return found && own != above
}
