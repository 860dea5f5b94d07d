//go:build unix

package disk

import (
	"bytes"
	"errors"
	"os"
	"strconv"
	"sync"

	"golang.org/x/sys/unix"
)

// freeBytes is what is free on the disk of a file, for a program without privileges.
func freeBytes(path string) (int64, error) {
	var s unix.Statfs_t
	if err := unix.Statfs(path, &s); err != nil {
		return 0, err
	}
	// The fields are of other types on other systems.
	return int64(uint64(s.Bavail) * uint64(s.Bsize)), nil //nolint:unconvert // see above
}

// SameDisk reports whether two files are on one file system.
func SameDisk(a, b string) (bool, error) {
	var of [2]unix.Stat_t
	err := unix.Stat(a, &of[0])
	if err == nil {
		err = unix.Stat(b, &of[1])
	}
	return err == nil && of[0].Dev == of[1].Dev, err
}

// Place tells a file from its copies: the id of the machine and the number of the file on its disk, "" if they are
// not known. The number of the disk does not count, since it changes when a machine starts again.
func Place(path string) string {
	var s unix.Stat_t
	if err := unix.Stat(path, &s); err != nil || s.Ino == 0 {
		return ""
	}
	return machine() + ":" + strconv.FormatUint(s.Ino, 10)
}

// machine is the id of this machine, "" where it has none, as in most containers: their names change with every
// start.
var machine = sync.OnceValue(func() string {
	for _, path := range []string{"/etc/machine-id", "/var/lib/dbus/machine-id"} {
		if id, err := os.ReadFile(path); err == nil && len(bytes.TrimSpace(id)) == 32 {
			return string(bytes.TrimSpace(id))
		}
	}
	return ""
})

// MayGive reports whether files that this process makes can be the owner's of path.
func MayGive(path string) bool {
	var s unix.Stat_t
	return unix.Geteuid() == 0 || unix.Stat(path, &s) == nil && int(s.Uid) == unix.Geteuid()
}

// GiveToOwner gives a file to the owner of path, which only root can.
func GiveToOwner(path, file string) {
	var s unix.Stat_t
	if unix.Geteuid() == 0 && unix.Stat(path, &s) == nil {
		// It may not be there.
		_ = unix.Lchown(file, int(s.Uid), int(s.Gid))
	}
}

// NoSpace reports whether the system refused to write more.
func NoSpace(err error) bool { return errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT) }
