package fleet

import (
	"context"

	"github.com/robotmem/robotmem-go/robotmem/admin"
	"github.com/robotmem/robotmem-go/robotmem/internal/store"
)

// Metrics returns how far this memory and its site are apart, for Prometheus. The time of the last sync is there once
// this process has synced: if several have the memory open, one of them does.
func (r *Replicator) Metrics(ctx context.Context) ([]admin.Metric, error) {
	status, err := r.Status(ctx)
	if err != nil {
		return nil, err
	}

	// The status lists the newest of them only.
	var conflicts, refused int64
	err = r.node.Store.Read(ctx, func(c *store.Conn) (err error) {
		if conflicts, err = c.Number(store.CountFleetNotes, kindConflict); err == nil {
			refused, err = c.Number(store.CountFleetNotes, kindRefused)
		}
		return err
	})
	if err != nil {
		return nil, err
	}

	out := []admin.Metric{
		{Name: "sync_waiting_changes", Help: "Changes of this memory that its site does not have.", Value: float64(status.Waiting)},
		{Name: "sync_refused_changes", Help: "Changes of this memory that its site does not take.", Value: float64(refused)},
		{Name: "sync_conflicts", Help: "Memories that were changed here and at the site, and are not settled.", Value: float64(conflicts)},
		{Name: "sync_sent_memories_total", Help: "Memories that this process has sent to the site.", Value: float64(status.Sent), Counter: true},
		{Name: "sync_received_memories_total", Help: "Memories that this process has received from the site.", Value: float64(status.Received), Counter: true},
	}
	if !status.Last.IsZero() {
		out = append(out, admin.Metric{
			Name: "sync_last_success_timestamp_seconds", Help: "When this process has last synced with the site.",
			Value: float64(status.Last.UnixMilli()) / 1000,
		})
	}

	return out, nil
}
