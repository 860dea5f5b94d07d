// Package archive is the form in which memories move between nodes: records that refer to each
// other by uid, never by the local ids of a node, and a file of them with their payloads.
//
// # Nouns
//
//   - A [Memory], a [Session] and a [Link] are records. What a node works out again by itself
//     (search indexes, vectors, features) is in none.
//   - A [Sink] takes the records of a node: [Writer] makes a file of them, and [Hashes] a list of
//     content hashes. A [Source] gives them: [Reader].
//   - The content hash of a record ([Memory.Hash]) is the SHA-256 of its canonical JSON: keys
//     sorted, numbers as they are spelt, no white space. Two nodes hold the same when they list
//     the same hashes.
//
// # The file
//
// A tar of regular files alone, which may be compressed with Zstandard, in this order:
//
//	manifest.json                  format, version, and how much of each there is
//	sessions/000001-SUM.jsonl      a session a line
//	memories/000002-SUM.jsonl      a memory a line, 500 at most
//	payloads/ab/SUM                the bytes that the memories before it name
//	…
//	links/000009-SUM.jsonl         a link a line, last because a link may name any record
//	SHA256SUMS                     a line for each file before it; it ends the archive
//
// SUM is the SHA-256 of the file in hex. An unpacked archive is therefore checked with "sha256sum
// -c SHA256SUMS", its payloads are files that other programs open, and each part is checked before
// anything of it is believed. A file without SHA256SUMS was cut off.
//
// Readers ignore unknown fields of a record. Columns of a node for which this version has no field
// are kept under extra.
//
// # Caveats
//
// A reader allocates nothing for a claimed size before the bytes arrive: parts, lines, payloads and
// their counts have limits. It follows no path: only the names above are allowed.
package archive
