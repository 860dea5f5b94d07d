// Package mounts finds mount points of disks on which nothing is mounted.
package mounts

import (
	"os"
	"path/filepath"
	"strings"
)

// Folders have the mount points of disks: in the first the folders themselves, in the others also those of a user.
var Folders = []string{"/mnt", "/media", "/run/media", "/Volumes"}

// Unmounted returns the mount point at or above a folder on which a disk should be and none is, "" if there is none. A
// folder that somebody has filled by hand is no mount point.
func Unmounted(dir string, folders []string) string {
	for _, folder := range folders {
		rest, below := strings.CutPrefix(filepath.Clean(dir), folder+string(filepath.Separator))
		if !below {
			continue
		}

		at := folder
		for depth, name := range strings.Split(rest, string(filepath.Separator)) {
			at = filepath.Join(at, name)

			entries, err := os.ReadDir(at)
			switch {
			case isMounted(at):
				return ""
			case err != nil && !os.IsNotExist(err):
				return "" // the backup itself says why
			case len(entries) == 0:
				return at
			case depth == 1 || filepath.Base(folder) != "media":
				return ""
			}
		}
	}

	return ""
}
