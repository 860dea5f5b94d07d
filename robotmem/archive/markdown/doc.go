// Package markdown writes a memory as a folder of Markdown files and reads such folders, and
// notes that people wrote, as an [archive.Source].
//
//	COLLECTION/memories/TEXT-UID.md      a memory without a session
//	COLLECTION/SESSION/TEXT-UID.md       a memory of a session
//	COLLECTION/SESSION/TEXT-UID.png      its payload
//	COLLECTION/SESSION/session.md        the session
//	links.jsonl                          the references between memories
//
// A file has the fields of the record between two lines of ---, each as JSON in one line, then
// an empty line, and the text byte for byte with a line break at its end. A file without a uid
// is a note that a person wrote: its text, or each point of a list, is a fact to learn
// ([Reader.Learn]). In all files a field may also have plain text without quotes, or a list of
// points in the lines below it. Other YAML is refused.
//
// # Caveats
//
// A file that was edited, so that its hash no longer matches, is a newer version of its
// memory. The time of the file must be after the updated_at in it.
package markdown
