package recording_test

import (
	"context"

	"github.com/robotmem/robotmem-go/perception/importers"
	"github.com/robotmem/robotmem-go/perception/importers/recording"
)

func Example() {
	var sink importers.Sink // such as sensors.Sink, which stores in a memory
	read := func(ctx context.Context) (*recording.Report, error) {
		src, err := recording.Open(ctx, "run.mcap")
		if err != nil {
			return nil, err
		}
		defer src.Close()
		return recording.Import(ctx, src, recording.Options{
			Exclude: []string{"/rosout"},
			RateHz:  map[string]float64{"/camera/*": 2},
		}, sink, nil)
	}
	_ = read
}
