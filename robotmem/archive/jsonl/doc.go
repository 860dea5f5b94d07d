// Package jsonl imports and exports facts as JSON lines: each line is a learn request.
//
//	{"insight":"grip_force=12.5 N holds wet glass","context":{"task":{"success":true}}}
//
// A JSON array, JSON that is printed over several lines, and UTF-16 are read as well. A text whose first
// 20 lines are all no requests fails with [ErrNoRequests].
//
// [Import] learns the lines in batches and reports each bad line by its number. With a
// [State] an import that was interrupted continues where it stopped and stores no line twice.
// [Export] writes the active facts of a memory, oldest first.
//
// # Caveats
//
// An exported fact has no session: the session belongs to the memory that it came from.
// Package archive moves whole memories.
package jsonl
