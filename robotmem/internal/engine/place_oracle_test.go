package engine

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/recall"
	"github.com/robotmem/robotmem-go/robotmem/robotmemtest/rounds"
)

// bruteDistance is the distance of a context from a place, read from the context alone.
func bruteDistance(context robotmem.Object, s *robotmem.SpatialSort) (nearest float64, ok bool) {
	for _, inner := range []string{"", ".position", ".pose", ".pose.position", ".pose.pose", ".pose.pose.position"} {
		frame, mapID := "", ""
		var v any = map[string]any(context)
		for i, key := range append([]string{""}, strings.Split(s.Field+inner, ".")...) {
			m, _ := v.(map[string]any)
			if i > 0 {
				v = m[key]
				m, _ = v.(map[string]any)
			}
			if header, _ := m["header"].(map[string]any); header["frame_id"] != nil {
				frame = fmt.Sprint(header["frame_id"])
			}
			if m["frame_id"] != nil {
				frame = fmt.Sprint(m["frame_id"])
			}
			if m["map_id"] != nil {
				mapID = fmt.Sprint(m["map_id"])
			}
		}
		at, earth := bruteNumbers(v)
		if earth {
			frame = "WGS84"
		}
		fits := len(at) == len(s.Target) || len(at)+len(s.Target) == 5 && len(at) <= 3 && len(s.Target) <= 3
		if at == nil || !fits || s.FrameID != "" && s.FrameID != frame || s.MapID != "" && s.MapID != mapID {
			continue
		}
		sum := 0.0
		for i := range min(len(at), len(s.Target)) {
			sum += (at[i] - s.Target[i]) * (at[i] - s.Target[i])
		}
		d := math.Sqrt(sum)
		if frame == "WGS84" && len(s.Target) <= 3 { // the angle between two unit vectors
			var dot float64
			a, b := unitVector(at), unitVector(s.Target)
			for i := range a {
				dot += (a[i] - b[i]) * (a[i] - b[i])
			}
			d = 2 * 6371008.8 * math.Asin(math.Sqrt(dot)/2)
			if len(s.Target) == 3 && len(at) == 3 {
				d = math.Hypot(d, at[2]-s.Target[2])
			}
		}
		if (s.MaxDistance == nil || d <= *s.MaxDistance) && (!ok || d < nearest) {
			nearest, ok = d, true
		}
	}
	return nearest, ok
}

func unitVector(latLon []float64) [3]float64 {
	lat, lon := latLon[0]*math.Pi/180, latLon[1]*math.Pi/180
	return [3]float64{math.Cos(lat) * math.Cos(lon), math.Cos(lat) * math.Sin(lon), math.Sin(lat)}
}

func bruteNumbers(v any) (at []float64, earth bool) {
	var texts []string
	switch v := v.(type) {
	case []any:
		for _, n := range v {
			text := "none"
			if number, ok := n.(json.Number); ok {
				text = string(number)
			}
			texts = append(texts, text)
		}
	case string:
		texts = strings.Split(strings.Trim(v, "[]() "), ",")
	case map[string]any:
		for _, keys := range [][]string{{"x", "y", "z"}, {"lat", "lon", "alt"}, {"latitude", "longitude", "altitude"}} {
			for _, key := range keys {
				if v[key] != nil && v["w"] == nil {
					texts, earth = append(texts, fmt.Sprint(v[key])), keys[0] != "x"
				}
			}
		}
	}
	for _, text := range texts {
		f, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
		if err != nil {
			return nil, false
		}
		at = append(at, f)
	}
	if len(at) < 2 || len(at) > 32 {
		return nil, false
	}
	return at, earth
}

// spellPlace returns one place in one of the spellings of robots.
func spellPlace(rng *rand.Rand, at []float64) any {
	list := []any{}
	for _, x := range at {
		list = append(list, x)
	}
	point := map[string]any{"x": at[0], "y": at[1]}
	if len(at) == 3 {
		point["z"] = at[2]
	}
	text := strings.Trim(strings.ReplaceAll(fmt.Sprint(at), " ", ", "), "[]")
	pose := map[string]any{"position": []any{list, point, text}[rng.IntN(3)], "orientation": map[string]any{"x": 0, "y": 0, "z": 0, "w": 1}}
	stamped := map[string]any{"header": map[string]any{"frame_id": []string{"map", "odom"}[rng.IntN(2)]}}
	switch rng.IntN(10) {
	case 0:
		return point
	case 1:
		return text
	case 2:
		return "(" + text + ")"
	case 3:
		return pose
	case 4:
		stamped["pose"] = pose
		return stamped
	case 5:
		stamped["pose"] = map[string]any{"pose": pose, "covariance": make([]float64, 36)}
		return stamped
	case 6:
		return map[string]any{"lat": at[0], "lon": at[1], "alt": 3}
	case 7:
		return map[string]any{"header": map[string]any{"frame_id": "gps"}, "latitude": at[0], "longitude": at[1]}
	case 8:
		joints := []any{}
		for range []int{4, 6, 7, 32, 33}[rng.IntN(5)] {
			joints = append(joints, rng.IntN(4))
		}
		return joints
	}
	return list
}

// Places in every spelling, changed and removed, and questions for them: the columns in memory
// return what reading each context returns.
func TestSpelledPlacesEqualBruteForce(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("one goroutine and many memories: nothing for -race")
	}
	rng := rand.New(rand.NewPCG(9, 16))
	e := openTest(t, Options{})
	context := func() robotmem.Object {
		at := []float64{float64(rng.IntN(120)) / 2, float64(rng.IntN(60)) / 2, float64(rng.IntN(5))}[:2+rng.IntN(2)]
		return robotmem.Object{"spatial": map[string]any{"at": spellPlace(rng, at), "map_id": []string{"one", "two"}[rng.IntN(2)]}}
	}
	req := &robotmem.LearnBatchRequest{KeepDuplicates: true}
	for i := range 600 {
		req.Items = append(req.Items, robotmem.LearnRequest{Insight: fmt.Sprintf("fact %d", i), Context: context()})
	}
	if _, err := e.LearnBatch(t.Context(), req); err != nil {
		t.Fatal(err)
	}
	found, n := 0, rounds.Of(60, 120)
	for round := range n {
		id := int64(1 + rng.IntN(600))
		if _, err := e.Update(t.Context(), &robotmem.UpdateRequest{MemoryID: id, NewContent: fmt.Sprintf("change %d", round), Context: context()}); err != nil {
			t.Fatal(err)
		}
		if round%20 == 19 {
			e.index.Columns.Contexts = nil
		}
		s := &robotmem.SpatialSort{Field: []string{"spatial.at", "spatial.at", "spatial.at.pose", "spatial.at.position", "spatial"}[rng.IntN(5)]}
		for range []int{2, 2, 3, 3, 4, 6, 7, 32}[rng.IntN(8)] {
			s.Target = append(s.Target, float64(rng.IntN(5)))
		}
		if rng.IntN(3) == 0 {
			s.FrameID = []string{"map", "WGS84", "none"}[rng.IntN(3)]
		}
		if rng.IntN(3) == 0 {
			s.MapID = "one"
		}
		if rng.IntN(3) == 0 {
			s.MaxDistance = new(float64(rng.IntN(30)))
		}
		var all []recall.Ranked
		for _, m := range allActive(t, e, "*") {
			if d, ok := bruteDistance(m.Context, s); ok {
				all = append(all, recall.Ranked{ID: m.MemoryID, Value: math.Round(d * 1e3)})
			}
		}
		res, err := e.Recall(t.Context(), &robotmem.RecallRequest{SpatialSort: s, N: 100})
		if err != nil {
			t.Fatal(err)
		}
		// The order of equal distances may differ in the last digit on the globe.
		got := []recall.Ranked{}
		for _, m := range res.Memories {
			got = append(got, recall.Ranked{ID: m.MemoryID, Value: math.Round(*m.Distance * 1e3)})
		}
		slices.SortFunc(all, recall.Smaller)
		slices.SortFunc(got, recall.Smaller)
		want := append([]recall.Ranked{}, all[:min(100, len(all))]...)
		if len(all) > 100 { // which of several at the cut is not compared
			cut := all[100].Value
			tied := func(r recall.Ranked) bool { return r.Value >= cut }
			if len(got) != 100 {
				t.Fatalf("%+v: %d answers", s, len(got))
			}
			want, got = slices.DeleteFunc(want, tied), slices.DeleteFunc(got, tied)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("round %d %+v (-want +got):\n%s", round, s, diff)
		}
		found += len(got)
	}
	if found < 25*n {
		t.Errorf("only %d answers: the questions are too narrow", found)
	}
}
