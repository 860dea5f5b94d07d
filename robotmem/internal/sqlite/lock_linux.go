package sqlite

import (
	"golang.org/x/sys/unix"
)

const setLockOFD = unix.F_OFD_SETLK
