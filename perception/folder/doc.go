// Package folder imports the files of a folder as perceptions, one each, in the order of
// their paths.
//
// The bytes and the name of a file decide its type: images are visual, sounds auditory,
// clouds (.pcd, .ply) spatial, trajectories (.tum, .kitti) procedural. Numbers (.csv, .npy)
// are tactile if a word of the path is force, wrench or the like, and otherwise procedural or
// proprioceptive. The path becomes the description: "wrist/2024-05-01/glass_slip_03.csv" is
// "glass slip 03, wrist 2024-05-01".
//
// # Sidecars
//
// A sidecar overrides this: glass.csv.json, or glass.json for all files glass.*
//
//	{
//	  "description": "the glass slipped at the second try",
//	  "perception_type": "tactile",
//	  "media_type": "text/csv",
//	  "metadata": {"units": {"force": "N"}},
//	  "context": {"task": {"name": "pick"}},
//	  "observed_at": "2024-05-01T13:45:01Z"
//	}
//
// All keys are optional. Without observed_at the time is that in the file's name
// (20240501_134501, 2024-05-01T13-45-01; taken as UTC), or otherwise that of the file.
//
// A session.json makes its folder an episode:
//
//	{"context": {"task": {"name": "pick"}}, "outcome_score": 1, "started_at": "2024-05-01T13:45:00Z"}
//
// # Example
//
//	report, err := folder.Import(ctx, "recordings", sink, folder.Options{Include: []string{"*.csv", "*.png"}})
//
// # Caveats
//
//   - A file is stored once for its path and its bytes. A changed sidecar does not store it
//     again; a changed content does.
//   - A file with a wrong sidecar is left out, so that it is not stored permanently with a
//     wrong description.
//   - Links are not followed, and hidden files are left out.
//   - Files that are added to an episode after its import are left out.
package folder
