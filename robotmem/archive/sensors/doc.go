// Package sensors moves perceptions between a memory and recordings and datasets.
//
// [Sink] stores in any Service what the importers of the packages perception/importers/recording
// and perception/importers/lerobot read. [ExportMCAP] writes the memories of a session
// or a collection as an MCAP file; recorded messages are written as they were.
//
//	report, err := lerobot.Import(ctx, "dataset", &sensors.Sink{Node: m, Collection: "arm7"}, lerobot.Options{})
package sensors
