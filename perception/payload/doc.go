// Package payload stores the bytes of perceptions: each payload once, under the
// SHA-256 of its bytes, in less room where they allow it, and never whole in
// memory. It is a leaf: it knows no database, and nothing else of this module.
//
// # Nouns
//
//   - A [Codec] is how bytes are stored: as they came, compressed, or as arrays
//     of numbers that are rearranged and then compressed. It is lossless.
//   - A [Hint] says which numbers the bytes are. A wrong one costs room, never a
//     bit: the codec is tried before it is used.
//   - A [Folder] holds the large payloads, one file each. [Folder.Write] hands
//     small ones back, encoded, to be kept elsewhere.
//   - A [Reader] reads a stored payload from any place on, and decodes only the
//     blocks that it touches.
//
// # Example
//
//	folder := payload.Folder{Dir: "memory.db.payloads"}
//	w, err := folder.Write(ctx, body, payload.Options{
//		Expect: request.ContentLength,
//		Hint:   func(head []byte) payload.Hint { return payload.HintOf(mediaType, metadata, head) },
//	})
//	if err != nil {
//		return err
//	}
//	if w.Inline != nil { // small: keep the bytes, as w.Codec made them
//		data, err := w.Codec.Decode(w.Inline, w.Size)
//		…
//	}
//	r, err := folder.Open(w.Sum, w.Codec, w.Size)
//	if err != nil {
//		return err
//	}
//	defer r.Close()
//	http.ServeContent(response, request, "", modified, r)
//
// # Crashes and other processes
//
// A file is written aside as tmp-*, synced, and renamed, and the folders are
// synced after it: a payload comes into sight whole and on the disk, and survives
// a loss of power. Several goroutines and processes may use one folder. What a
// crash leaves is a tmp-* file, which [Folder.List] names and
// [Folder.SweepStrays] removes.
//
// # Damage
//
// Each block of a compressed file carries a CRC-32C of its bytes and is checked
// when it is read. A plain file is checked as a whole only: by [Folder.Verify],
// and by a [Reader] that reads it from its beginning to its end.
//
// # Memory
//
// Writing takes some ten MiB besides the head that the caller asked for; an open
// reader of a compressed file keeps one block of 1 MiB, and its index of 8 bytes
// for each block. Every length that a file claims is checked against the bytes
// that are there before anything is allocated.
//
// # Caveats
//
//   - The codec is chosen by the first 256 KiB. Bytes that change their nature
//     later are stored correctly, in more room than they would need.
//   - Two processes that write one payload at the same moment under different
//     hints may store it twice, as a plain and as a compressed file. Either is
//     read, and [Folder.Remove] removes both.
package payload
