package sqlite

// setLockOFD is F_OFD_SETLK of the system's fcntl.h.
const setLockOFD = 90
