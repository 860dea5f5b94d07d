package sqlite

import (
	"fmt"
	"io/fs"
	"strings"
	"syscall"
	"testing"

	"github.com/ncruces/go-sqlite3"

	"github.com/robotmem/robotmem-go/robotmem"
)

// A user without permission is not sent to look for space.
func TestPermissionIsNotAFullDisk(t *testing.T) {
	for _, errno := range []error{syscall.EACCES, syscall.EBADF} {
		err := fmt.Errorf("%w: %w", sqlite3.IOERR, &fs.PathError{Op: "write", Path: "x", Err: errno})
		if got := Explain(err); got.Kind != robotmem.Unavailable || strings.Contains(got.Detail(), "full") || !strings.Contains(got.Detail(), "who owns") {
			t.Errorf("%v is told as %s: %s", errno, got.Kind, got.Detail())
		}
	}
}
