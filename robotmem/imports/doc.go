// Package imports takes recordings that are sent to a node and imports them, as the command import does.
//
// A [Queue] writes the files of a recording to a folder beside the memory, never into memory, and imports one
// recording at a time; others wait. The folder of a recording is removed when its import has ended, however it
// ended. What a killed process has left is removed when the next one opens the queue: the name of such a folder
// carries the id of the memory's file, and the lock beside it is free once its process is gone. Nothing else is
// removed.
//
// # Caveats
//
// The files are in clear while they wait, also beside an encrypted memory. The list of imports is that of the
// process: after a restart the episodes tell what was imported.
package imports
