// Package sqlite opens one SQLite file for one process: connections that are set up alike, a pool
// of readers, and one writer that commits the jobs of many callers together. It knows nothing of
// the tables in the file; package store does.
//
// A [DB] is the file. [DB.Read] runs a function in a snapshot. [DB.Write] runs one
// in a transaction and returns once it is on the disk. A [Conn] is one connection
// with its prepared statements. A [Disk] is what files are changed through, so that
// a test can simulate a power failure or a full disk.
//
// # Caveats
//
// The file lies on a local disk: SQLite's log needs shared memory and locks
// between processes. A job may run twice: when another job of its group has
// failed, the group is undone and each is tried alone. It commits once.
package sqlite
