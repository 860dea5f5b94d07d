package main

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/admin"
	"github.com/robotmem/robotmem-go/robotmem/local"
)

// remember recalls the recorded second that is most similar to a new press, reads the
// force in it, and draws it if folder is not empty.
func remember(ctx context.Context, m *local.Node, session, out string) error {
	if err := compared(ctx, m); err != nil {
		return err
	}
	data, shape := press()
	found, err := m.Recall(ctx, &robotmem.RecallRequest{
		Like: &robotmem.Like{
			DataBase64: data, MediaType: "application/x-samples",
			Metadata: robotmem.Object{"dtype": "<f8", "shape": shape},
		},
		SessionID: session, N: 1,
	})
	if err != nil {
		return err
	}
	if len(found.Memories) == 0 {
		return errors.New("no second like a press was found")
	}
	chunk := found.Memories[0]
	fmt.Printf("most like a press: %d, %s; %s\n", chunk.MemoryID, chunk.Content, chunk.Summary)
	if err := readForce(ctx, m, &chunk); err != nil {
		return err
	}
	if out == "" {
		return nil
	}

	return draw(ctx, m, chunk.MemoryID, out)
}

// compareLimit is the time limit for computing the features of the last recordings.
const compareLimit = 30 * time.Second

// compared waits until the background worker has computed the similarity features of all
// recordings. Without the wait, degraded reports how many perceptions are not yet searched.
func compared(ctx context.Context, m *local.Node) error {
	ctx, cancel := context.WithTimeout(ctx, compareLimit)
	defer cancel()

	for {
		stats, err := m.Stats(ctx, &admin.StatsRequest{})
		if err != nil || stats.ToCompare == 0 {
			return err
		}

		select {
		case <-time.After(10 * time.Millisecond):
		case <-ctx.Done():
			return fmt.Errorf("%d perceptions wait to be compared: %w", stats.ToCompare, ctx.Err())
		}
	}
}

// press returns one second of pressing and lifting as raw samples, at half the rate
// of the recording. The rate does not affect the similarity.
func press() (data []byte, shape []int) {
	const samples, from = 500, time.Second / 2
	for i := range samples {
		t := from + time.Duration(i)*2*period
		for _, v := range contactAt(t).wrench(uint64(i)) {
			data = binary.LittleEndian.AppendUint64(data, math.Float64bits(v))
		}
	}

	return data, []int{samples, 6}
}

// readForce decodes a chunk of dtype <f8 and shape [n, 6]. Fz is the third column.
func readForce(ctx context.Context, m *local.Node, chunk *robotmem.Memory) error {
	data, err := m.Data(ctx, &robotmem.MemoryRequest{MemoryID: chunk.MemoryID})
	if err != nil {
		return err
	}
	readings := make([]float64, data.Bytes/8)
	if _, err := binary.Decode(data.DataBase64, binary.LittleEndian, readings); err != nil {
		return err
	}

	peak := 0.0
	for i := 2; i < len(readings); i += 6 {
		if math.Abs(readings[i]) > math.Abs(peak) {
			peak = readings[i]
		}
	}
	fmt.Printf("its bytes: %d samples from %s, Fz peak %.1f N\n", len(readings)/6,
		chunk.ObservedAt.Format("15:04:05.000"), peak)

	return nil
}

// draw writes the plot of a perception to a folder.
func draw(ctx context.Context, m *local.Node, id int64, folder string) error {
	plot, err := m.Preview(ctx, &admin.PreviewRequest{MemoryID: id})
	if err != nil {
		return err
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	path := filepath.Join(folder, "press.svg")
	if err := os.WriteFile(path, plot.DataBase64, 0o644); err != nil {
		return err
	}
	fmt.Println("drawn:", path)

	return nil
}
