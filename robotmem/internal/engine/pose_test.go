package engine

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/store"
	"github.com/robotmem/robotmem-go/robotmem/internal/store/sqlite"
)

func poseContext(pose map[string]any) robotmem.Object {
	return robotmem.Object{"spatial": map[string]any{"pose": pose}}
}

func TestWhatCannotBeAPoseIsRefused(t *testing.T) {
	t.Parallel()
	e := openTest(t, Options{})
	type object = map[string]any
	for _, tt := range []struct {
		name  string
		pose  object
		field string // "" if it is taken
	}{
		{"a pose", object{"position": []any{1.5, 2, 0}, "orientation": []any{0, 0, 0.7071068, 0.7071068}, "frame_id": "map", "map_id": "lab", "stamp": "2026-03-01T14:05:00Z"}, ""},
		{"of two dimensions", object{"position": []any{1.5, 2}}, ""},
		{"rounded to three digits", object{"position": []any{0, 0, 0}, "orientation": []any{0, 0, 0.707, 0.707}}, ""},
		{"the other sign", object{"orientation": []any{0, 0, 0, -1}}, ""},
		{"seconds as stamp", object{"position": []any{0, 0, 0}, "stamp": 1767225600.5}, ""},
		{"a quaternion of no length", object{"orientation": []any{0, 0, 0, 0}}, "orientation"},
		{"a quaternion too long", object{"orientation": []any{0, 0, 0.72, 0.72}}, "orientation"},
		{"three numbers", object{"orientation": []any{0, 0, 1}}, "orientation"},
		{"five numbers", object{"orientation": []any{0, 0, 0, 0, 1}}, "orientation"},
		{"a text among them", object{"orientation": []any{0, 0, 0, "1"}}, "orientation"},
		{"null among them", object{"orientation": []any{0, 0, 0, nil}}, "orientation"},
		{"one coordinate", object{"position": []any{1}}, "position"},
		{"four coordinates", object{"position": []any{1, 2, 3, 4}}, "position"},
		{"no coordinate", object{"position": []any{}}, "position"},
		{"a text as coordinate", object{"position": []any{1, "2", 3}}, "position"},
		{"a number as frame", object{"position": []any{1, 2, 3}, "frame_id": 7}, "frame_id"},
		{"null as frame", object{"position": []any{1, 2, 3}, "frame_id": nil}, "frame_id"},
		{"a list as map", object{"position": []any{1, 2, 3}, "map_id": []any{"lab"}}, "map_id"},
		{"a stamp that is no time", object{"position": []any{1, 2, 3}, "stamp": "yesterday"}, "stamp"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			ctx := poseContext(tt.pose)
			_, learnErr := e.Learn(t.Context(), &robotmem.LearnRequest{Insight: "seen: " + tt.name, Context: ctx})
			_, saveErr := e.SavePerception(t.Context(), &robotmem.SavePerceptionRequest{Description: "seen: " + tt.name, Context: ctx})
			fact, err := e.Learn(t.Context(), &robotmem.LearnRequest{Insight: "to be moved: " + tt.name})
			if err != nil {
				t.Fatal(err)
			}
			_, updateErr := e.Update(t.Context(), &robotmem.UpdateRequest{MemoryID: fact.MemoryID, NewContent: "moved: " + tt.name, Context: ctx})
			for op, err := range map[string]error{"learn": learnErr, "save_perception": saveErr, "update": updateErr} {
				refused := (*robotmem.Error)(nil)
				switch {
				case tt.field == "" && err != nil:
					t.Errorf("%s: %v", op, err)
				case tt.field != "" && (!errors.As(err, &refused) || refused.Kind != robotmem.Invalid || refused.Field != "context.spatial.pose."+tt.field || refused.Op != op):
					t.Errorf("%s: %v, want %s to be invalid", op, err, tt.field)
				}
			}
		})
	}
}

// A value that an earlier version accepted must not prevent a repair.
func TestAStoredContextIsPastTheCheckOfPoses(t *testing.T) {
	t.Parallel()
	e := openTest(t, Options{})
	res, err := e.Learn(t.Context(), &robotmem.LearnRequest{Insight: "the dock is here", Context: poseContext(map[string]any{"position": []any{1, 2, 0}})})
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Store.Write(t.Context(), func(tx *store.Tx) error {
		err := sqlite.FileOf(tx.Conn).Exec(`UPDATE memories SET context = '{"spatial":{"pose":{"orientation":[0,0,1],"frame_id":3}}}' WHERE id = ?`, res.MemoryID)
		return errors.Join(err, tx.UpdateChecksums())
	}); err != nil {
		t.Fatal(err)
	}
	if r, err := e.Repair(t.Context(), nil); err != nil || !r.Doctor.Healthy {
		t.Fatalf("repair: %+v, %v", r, err)
	}
	if _, err := e.Update(t.Context(), &robotmem.UpdateRequest{MemoryID: res.MemoryID, NewContent: "the dock was here"}); err != nil {
		t.Errorf("update of the text: %v", err)
	}
	if _, err := e.Forget(t.Context(), &robotmem.ForgetRequest{MemoryID: res.MemoryID, Reason: "moved"}); err != nil {
		t.Fatal(err)
	}
	if _, err := e.Restore(t.Context(), &robotmem.MemoryRequest{MemoryID: res.MemoryID}); err != nil {
		t.Errorf("restore: %v", err)
	}
}

func TestAPoseIsFoundByPlaceOnItsMap(t *testing.T) {
	t.Parallel()
	e := openTest(t, Options{})
	at := func(name string, x float64, frame, mapID string) int64 {
		t.Helper()
		pose := map[string]any{"position": []any{x, 0, 0}, "orientation": []any{0, 0, 0, 1}}
		if frame != "" {
			pose["frame_id"] = frame
		}
		if mapID != "" {
			pose["map_id"] = mapID
		}
		res, err := e.Learn(t.Context(), &robotmem.LearnRequest{Insight: "a door " + name, Context: poseContext(pose)})
		if err != nil {
			t.Fatal(err)
		}
		return res.MemoryID
	}
	lab, store := at("of the lab", 1, "map", "lab"), at("of the store", 2, "map", "store")
	far, odom, bare := at("of the lab, far away", 30, "map", "lab"), at("since the start", 3, "odom", "lab"), at("somewhere", 4, "", "")
	start := func(ctx robotmem.Object) string {
		t.Helper()
		s, err := e.StartSession(t.Context(), &robotmem.StartSessionRequest{Context: ctx})
		if err != nil {
			t.Fatal(err)
		}
		return s.SessionID
	}
	onLab := start(poseContext(map[string]any{"map_id": "lab", "position": []any{0, 0, 0}}))
	sectionLab := start(robotmem.Object{"spatial": map[string]any{"map_id": "lab"}})
	nowhere := start(robotmem.Object{"task": map[string]any{"name": "patrol"}})
	const frames, otherMap = "different frames or maps", "lie on another map (store) than the session (lab)"
	for _, tt := range []struct {
		name     string
		frame    string
		mapID    string
		session  string
		n        int
		want     []int64
		degraded []string
	}{
		{"of a frame and a map", "map", "lab", onLab, 5, []int64{lab, far}, nil},
		{"of a map", "", "lab", onLab, 5, []int64{lab, odom, far}, []string{frames}},
		{"of a frame, for nobody", "map", "", "", 5, []int64{lab, store, far}, []string{frames}},
		{"of a frame, for a session on a map", "map", "", onLab, 5, []int64{lab, store, far}, []string{frames, otherMap}},
		{"the section names the map", "map", "", sectionLab, 5, []int64{lab, store, far}, []string{frames, otherMap}},
		{"a session on no map", "map", "", nowhere, 5, []int64{lab, store, far}, []string{frames}},
		{"only what is answered counts", "map", "", onLab, 1, []int64{lab}, []string{frames}},
		{"the other map by name", "map", "store", onLab, 5, []int64{store}, []string{otherMap}},
		{"of any", "", "", onLab, 5, []int64{lab, store, odom, bare, far}, []string{frames, otherMap}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			res, ids := recalled(t, e, &robotmem.RecallRequest{N: tt.n, ForSession: tt.session, SpatialSort: &robotmem.SpatialSort{
				Field: "spatial.pose.position", Target: []float64{0, 0, 0}, FrameID: tt.frame, MapID: tt.mapID,
			}})
			if !slices.Equal(ids, tt.want) {
				t.Errorf("got %v, want %v", ids, tt.want)
			}
			if len(res.Degraded) != len(tt.degraded) {
				t.Fatalf("degraded %q, want %q", res.Degraded, tt.degraded)
			}
			for i, part := range tt.degraded {
				if !strings.Contains(res.Degraded[i], part) {
					t.Errorf("degraded %q, want %q", res.Degraded[i], part)
				}
			}
		})
	}
	if res, _ := recalled(t, e, &robotmem.RecallRequest{Query: "door", ForSession: onLab}); len(res.Degraded) > 0 {
		t.Errorf("a question by words says %q", res.Degraded)
	}
}
