// Package lerobot imports datasets of LeRobot: LeRobotDataset v3, and v2.1.
//
// Each episode becomes a session with its task, and in it
//
//   - a trace for every vector of numbers (observation.state, action, ...), raw
//     little-endian samples with their shape, rate and channels in the metadata;
//   - one trace of all single numbers beside them (next.reward, next.done, ...);
//   - pictures that lie in the data files, some of each second;
//   - the name and the seconds of the films that show it. A film spans episodes,
//     so it is stored once, whole and in no session.
//
// The outcome of an episode is next.success: 1 if it is true in any frame, else
// 0. Without it, it is the last next.reward, if that is 0 to 1; else unknown.
//
// # Example
//
//	report, err := lerobot.Import(ctx, "datasets/pusht", sink, lerobot.Options{Videos: true})
//	if err != nil {
//		return err // no dataset, or the sink failed
//	}
//	fmt.Println(report.Sessions, "episodes,", report.Messages, "frames", report.Broken)
//
// # Memory
//
// One row of every column and the traces of one episode are held, with the pages
// of the parquet file that they are in. A trace is at most 64 MiB.
//
// # Caveats
//
//   - A dataset holds no dates: perceptions and sessions have no time.
//   - An episode of which the metadata claims something else than the data file
//     holds is left out; the report says so. The others stand.
//   - Columns compressed otherwise than by Snappy, LeRobot's own, are refused, as
//     are encodings that pyarrow does not choose by itself.
//   - Whole numbers beyond 2^53 lose their last digits. Texts are left out, save
//     the task.
//   - A missing number is NaN in a trace.
package lerobot
