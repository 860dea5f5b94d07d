// Package payload stores the bytes of perceptions: each payload once, under its SHA-256,
// compressed if that saves space, without holding a large payload in memory.
//
// # Nouns
//
//   - A [Codec] is how bytes are stored: unchanged, compressed, or as arrays of numbers
//     that are rearranged and then compressed. It is lossless.
//   - A [Folder] holds the large payloads, one file each. [Folder.Write] returns small ones
//     encoded, for the caller to store elsewhere.
//   - A [Reader] reads a stored payload from any offset, and decodes only the blocks that it needs.
//
// # Crashes and other processes
//
// A file is written under the name tmp-*, synced and renamed, and then its folders are
// synced: a payload that is visible is complete and survives a loss of power. Several
// goroutines and processes may use one folder. A crash may leave a tmp-* file, which
// [Folder.List] names and [Folder.SweepStrays] removes.
//
// # Damage
//
// Each block of a compressed file has a CRC-32C, which is checked when the block is read. An
// uncompressed file is only checked as a whole: by [Folder.Verify], and by a [Reader] that
// reads it from the beginning to the end.
//
// # Memory
//
// Writing takes some ten MiB besides the head for the caller. An open reader of a compressed
// file holds one block of 1 MiB and 8 bytes of index per block. Every length that a file
// claims is checked against the bytes that are there before anything is allocated.
//
// # Caveats
//
//   - The codec is chosen by the first 32 KiB. If the rest is different, it is stored
//     correctly but takes more space than necessary.
//   - A payload may be stored twice, as an uncompressed and as a compressed file, if an earlier
//     version stored it. Either is read, and [Folder.Remove] removes both.
package payload
