package recording

import (
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/robotmem/robotmem-go/perception/importers"
	"github.com/robotmem/robotmem-go/perception/importers/message"
	"github.com/robotmem/robotmem-go/perception/occupancy"
)

// A map that a recording has becomes a perception of its own, beside the message: the dashboard draws it beneath what
// lies on it. While a robot explores, it publishes its map again and again, so that only the last map of each topic is
// kept.

const maxGrids = 16 // topics

type keptGrid struct {
	*occupancy.Grid
	at time.Time
}

// keepGrid keeps the map of a message, instead of an earlier one of its topic.
func (imp *importer) keepGrid(t *topic, topicName string, v *message.Value, at time.Time) {
	g, err := occupancy.OfMessage(v, imp.o.MapID)
	if err != nil {
		t.note("not drawn: " + err.Error())
		return
	}
	if g.Repaired > 0 {
		t.note(strconv.Itoa(g.Repaired) + " cells of the map are not -1 to 100, and count as unknown")
	}
	if imp.grids == nil {
		imp.grids = map[string]keptGrid{}
	}
	if _, known := imp.grids[topicName]; !known && len(imp.grids) >= maxGrids {
		t.note("not drawn: there are more than " + strconv.Itoa(maxGrids) + " topics with maps")
		return
	}
	imp.grids[topicName] = keptGrid{g, at}
}

// gridPerceptions are the last maps of the topics.
func (imp *importer) gridPerceptions() ([]importers.Perception, error) {
	var out []importers.Perception

	for _, topic := range slices.Sorted(maps.Keys(imp.grids)) {
		g := imp.grids[topic]
		p, err := g.Perception(map[string]any{
			"recording": imp.name, "recording_id": imp.id, "topic": importers.Cut(topic, maxTopic), "session_id": imp.session,
		}, g.at)
		if err != nil {
			return nil, err
		}
		p.Messages = 0 // its message is in a segment
		if imp.o.Robot != "" {
			p.Context["robot"] = map[string]any{"id": imp.o.Robot}
		}
		out = append(out, p)
	}

	return out, nil
}
