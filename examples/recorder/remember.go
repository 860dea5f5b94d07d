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

// remember asks the memory for the second that is most like a press which the
// sensor has just felt, reads the force in it, and draws it into a folder, if
// there is one.
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

// compareLimit is how long the background may take for what was recorded last.
const compareLimit = 30 * time.Second

// compared waits until all that was recorded can be found by likeness, which is
// worked out in the background. A robot that does not wait is told by "degraded"
// how many perceptions were left out.
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

// press is a second in which the peg is pressed and lifted, as raw samples, at
// half the rate of what was recorded: only the course counts.
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

// readForce reads the bytes of a chunk as its metadata says: dtype <f8 and shape
// [n, 6], of which Fz is the third.
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
	fmt.Printf("its bytes: %d samples from %s, Fz peak %.1f N\n", len(readings)/6, chunk.ObservedAt.Format("15:04:05.000"), peak)
	return nil
}

// draw writes the plot of a perception into a folder.
func draw(ctx context.Context, m *local.Node, id int64, folder string) error {
	plot, err := m.Preview(ctx, &robotmem.PreviewRequest{MemoryID: id})
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
