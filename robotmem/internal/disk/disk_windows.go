package disk

import (
	"errors"
	"path/filepath"
	"strings"

	"golang.org/x/sys/windows"
)

// freeBytes is what is free on the disk of a file, for the user of the program.
func freeBytes(path string) (int64, error) {
	name, err := windows.UTF16PtrFromString(path)
	if err != nil {
		return 0, err
	}
	var free uint64
	err = windows.GetDiskFreeSpaceEx(name, &free, nil, nil)
	return int64(free), err
}

// SameDisk reports whether two files are on one drive.
func SameDisk(a, b string) (bool, error) {
	return strings.EqualFold(filepath.VolumeName(a), filepath.VolumeName(b)), nil
}

// Place is not known there.
func Place(string) string { return "" }

// MayGive: who may open a file there may share it.
func MayGive(string) bool { return true }

func GiveToOwner(string, string) {}

// NoSpace reports whether the system refused to write more.
func NoSpace(err error) bool {
	return errors.Is(err, windows.ERROR_DISK_FULL) || errors.Is(err, windows.ERROR_DISK_QUOTA_EXCEEDED)
}
