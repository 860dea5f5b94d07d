package local

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/store"
)

func poseContext(pose map[string]any) robotmem.Object {
	return robotmem.Object{"spatial": map[string]any{"pose": pose}}
}

// A value that cannot be a pose must not prevent a repair.
func TestWhatCannotBeAPoseIsRepaired(t *testing.T) {
	e := openTest(t, Options{})
	res, err := e.Learn(t.Context(), &robotmem.LearnRequest{Insight: "the dock is here", Context: poseContext(map[string]any{"position": []any{1, 2, 0}})})
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Store.Write(t.Context(), func(tx *store.Tx) error {
		err := tx.Exec(`UPDATE memories SET context = '{"spatial":{"pose":{"orientation":[0,0,1],"frame_id":3}}}' WHERE id = ?`, res.MemoryID)
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
