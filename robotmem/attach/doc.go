// Package attach follows a living robot. It keeps the last minute of everything in memory; when something
// goes wrong it stores an incident with that minute, and when the robot comes to the place of an earlier
// incident, or starts such a task again, it warns before the robot acts.
//
//	source, err := foxglove.Dial(…)
//	err = attach.Run(ctx, source, attach.Options{Node: memory, Robot: "cart-3"})
//
// # Nouns
//
//   - A [Source] is a connection to a robot that sends messages and takes warnings.
//   - The ring holds the messages of the last seconds, in bounded memory.
//   - An incident is an episode with what was said, the place, the parameters and the recording of the
//     minute before and the seconds after.
//   - A danger is a place, or a goal, at which something went wrong and that was not mastered since.
//   - A [Warning] says so before the robot is there.
//
// # Never in the way
//
// The connection is read by one goroutine, which only copies into the ring and a bounded queue. Decoding, storing
// and asking the memory happen behind it. What the queue cannot hold is dropped and counted. Dangers are asked for
// ahead of time, so a warning waits for nothing.
package attach
