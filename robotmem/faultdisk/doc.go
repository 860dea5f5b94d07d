// Package faultdisk is a disk that records and faults. An engine that keeps its
// file and its payloads on it can be shown every state that a loss of power may
// leave, a full disk, a slow one and one that fails. It is for tests.
//
// # Nouns
//
//   - A [Disk] passes a folder's changes to the real disk: those of SQLite through
//     a VFS of its own, those of the payload folder as a payload.Disk. It may hold
//     them up or refuse them.
//   - A [Log] is what a disk was asked for, in order: writes, truncations, syncs of
//     files, names made, renamed and removed, syncs of folders, and the marks that
//     its user set ([Disk.Mark]), as a rule one for each acknowledgement.
//   - A [Replay] goes through a log and at any point makes a folder as it may be
//     found when power had failed there ([Replay.Cut]).
//
// # Example
//
//	d, err := faultdisk.New(dir)
//	...
//	defer d.Close()
//	e, err := robotmem.Open(ctx, robotmem.Options{Path: filepath.Join(dir, "memory.db"), Disk: d})
//	...
//	r := d.Log().Replay()
//	r.Advance(1234)
//	lost, err := r.Cut(rnd, 512, fresh)
//
// # What a cut may do
//
// The model is the one of the literature on crash consistency: ALICE (Pillai and
// others, OSDI 2014) with its abstract persistence model of block and directory
// operations, CrashMonkey (Mohan and others, OSDI 2018), and of dm-log-writes in
// Linux; over files and folders instead of blocks.
//
//   - What a file held when it was last synced is there, and its size then. Of
//     what was written since, each sector is as it was after any one of the writes
//     that touched it, or as before them: sectors of one write may be torn apart,
//     and later writes be there while earlier ones are not. A sector may also hold
//     garbage, within the bytes that were written and nowhere else, as SQLite's
//     SQLITE_IOCAP_POWERSAFE_OVERWRITE promises.
//   - The file's size is any one of those it had since then. What it gained
//     without its bytes reads as zeros.
//   - A name that was made or removed and whose folder was not synced since is as
//     before or as after, each for itself. A rename is one step: the file has
//     either name, never both and never none; a sync of the folder that it went to
//     settles it.
//   - Syncing a file puts no name on the disk, not its own either, and syncing a
//     folder not the folder's own.
//
// That is harsher than a journalling file system, which keeps names in order.
//
// # Caveats
//
//   - Not modelled: disks that break what they were not asked to write, or that
//     acknowledge a sync and lie ([Disk.Lie] shows what becomes of that); sectors
//     that cannot be read any more; several processes.
//   - The index of SQLite's log (-shm) is neither recorded nor counted against the
//     free space: SQLite makes it anew after a loss of power.
//   - Syncs are recorded, held up or refused, and not passed on: nobody needs these
//     files after a real loss of power, and they would be what takes the time.
//   - Reads are the real disk's. Temporary files of SQLite that have no name are
//     passed on as they are.
//   - The log of a recording is held in memory with every byte that was written.
package faultdisk
