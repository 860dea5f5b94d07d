package lerobot_test

import (
	"context"
	"fmt"

	"github.com/robotmem/robotmem-go/perception/importers"
	"github.com/robotmem/robotmem-go/perception/importers/lerobot"
)

func Example() {
	var sink importers.Sink // such as sensors.Sink, which stores in a memory
	read := func(ctx context.Context) error {
		report, err := lerobot.Import(ctx, "datasets/pusht", sink, lerobot.Options{})
		if err != nil {
			return err // it is not a dataset, or the sink failed
		}
		fmt.Println(report.Sessions, "episodes,", report.Messages, "frames", report.Broken)
		return nil
	}
	_ = read
}
