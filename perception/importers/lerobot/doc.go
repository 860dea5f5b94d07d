// Package lerobot imports datasets of LeRobot: LeRobotDataset v3, v2.1 and v2.0.
//
// Each episode becomes a session with its task. The session has a trace for each feature of numbers
// (observation.state, action, next.reward, ...), as little-endian float64 with shape, rate and
// channels in the metadata.
//
// Images and videos stay in the dataset. Of v3 its meta/episodes says which seconds of them show an
// episode; of v2 each episode has files of its own.
//
// The outcome of an episode is next.success: 1 if it is true in any frame, otherwise 0. Without
// next.success it is the last next.reward if that is from 0 to 1, and otherwise unknown.
//
// # Memory
//
// An import holds one row of every column with the pages of the parquet file that have it,
// and the traces of one episode. A trace takes at most 64 MiB.
//
// # Caveats
//
//   - A dataset has no dates: its perceptions and sessions have no time.
//   - An episode for which metadata and data file disagree is left out, and the report says
//     so. The other episodes are imported.
//   - Of compressions only Snappy is read, which LeRobot uses, and of encodings and page versions
//     only those that pyarrow chooses by default.
//   - Whole numbers beyond 2^53 lose their last digits. Texts other than the task are left out.
//   - A missing number is NaN in a trace.
package lerobot
