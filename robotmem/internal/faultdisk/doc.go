// Package faultdisk is a disk for tests. It records what an engine does to its
// database and its payloads, and it can be full, stalled or broken. From a
// recording it makes the states that a power failure may leave.
//
// # Nouns
//
//   - A [Disk] passes the changes of one folder to the real disk: those of SQLite
//     through a VFS, those of payloads as a payload.Disk.
//   - A [Log] is the ordered list of operations: writes, truncations, syncs of
//     files, names created, renamed and removed, syncs of folders, and marks that
//     the caller sets ([Disk.Mark]), usually one for each acknowledgement.
//   - A [Replay] is a position in a log. [Replay.Cut] writes a folder as it may be
//     found when the power failed there.
//
// # Example
//
//	d, err := faultdisk.New(dir)
//	...
//	defer d.Close()
//	var o local.Options
//	disk.Choose(&o, d)
//	e, err := local.Open(ctx, filepath.Join(d.Root(), "memory.db"), o)
//	...
//	r := d.Log().Replay()
//	r.Advance(1234)
//	lost, err := r.Cut(rnd, 512, emptyFolder)
//
// # Model of a power failure
//
// The model follows ALICE (Pillai and others, OSDI 2014), CrashMonkey (Mohan and
// others, OSDI 2018) and dm-log-writes, applied to files and folders:
//
//   - The bytes and the size that a file had at its last sync are on the disk. Each
//     sector written since is in any state it went through, independently of other
//     sectors and of the order of writes. It may also hold garbage, within the bytes
//     that were written (SQLITE_IOCAP_POWERSAFE_OVERWRITE).
//   - The size is any size the file had since its last sync. Bytes that were gained
//     and not written are zero.
//   - A name that was created or removed since the last sync of its folder is as
//     before or as after, independently of other names. A rename is atomic: the file
//     has one of the two names. A sync of the destination folder completes it.
//   - Syncing a file does not sync its name. Syncing a folder does not sync the
//     folder's own name.
//
// # Caveats
//
//   - Not modelled: writes that damage other bytes, unreadable sectors, and several
//     processes. [Disk.Lie] models a disk that acknowledges syncs it does not make.
//   - The shared-memory index of SQLite's log (-shm) is neither recorded nor counted.
//   - Syncs are not passed to the real disk. Reads are the real disk's.
//   - A log holds every written byte in memory.
package faultdisk
