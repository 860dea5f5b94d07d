// Package folder imports the files of a folder as perceptions, one each, in order
// of their paths.
//
// What a file is, its bytes and its name say: an image is visual, a sound
// auditory, a cloud (.pcd, .ply) spatial, a trajectory (.tum, .kitti) procedural,
// numbers (.csv, .npy) tactile if a word of the path is force, wrench and the
// like, else procedural or proprioceptive. The path gives the description:
// "wrist/2024-05-01/glass_slip_03.csv" is "glass slip 03, wrist 2024-05-01".
//
// # Sidecars
//
// A sidecar says it better: glass.csv.json, or glass.json for all files glass.*
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
// Every key may be left out. The time is then that in the file's name
// (20240501_134501, 2024-05-01T13-45-01; taken as UTC), else that of the file.
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
//   - A file is stored once for its path and its bytes. Another sidecar does not
//     make it another; another content does.
//   - A file with a bad sidecar is left out, so that it is not stored for good
//     under a wrong name.
//   - Links are not followed, and hidden files are left out.
//   - Files that come into an episode after its import are left out.
package folder
