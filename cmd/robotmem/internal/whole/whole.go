// Package whole writes files that appear complete or not at all.
package whole

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"syscall"

	"github.com/robotmem/robotmem-go/robotmem"
)

// Write writes a file that appears complete or not at all: it is written to NAME.part,
// synced and renamed. field is the field of the error if the file cannot be created.
func Write(name, field string, write func(*os.File) error) error {
	temp := name + ".part"
	// The contents of a memory are private.
	f, err := os.OpenFile(temp, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return robotmem.Errorf(robotmem.Invalid, field, "%v", err)
	}

	err = write(f)
	if err == nil {
		// Sync before the rename: otherwise a loss of power could leave an empty file under the final name.
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(temp, name)
	}
	if err == nil {
		return nil
	}

	err = errors.Join(err, os.Remove(temp))
	if DiskFull(err) {
		return &robotmem.Error{Kind: robotmem.Unavailable, Field: field, Err: fmt.Errorf("the disk of %s is full (%w); nothing was changed; free some space and try again", name, err)}
	}

	return err
}

// DiskFull reports whether the system refused to write more.
func DiskFull(err error) bool {
	const onWindows = syscall.Errno(112) // ERROR_DISK_FULL
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || runtime.GOOS == "windows" && errors.Is(err, onWindows)
}
