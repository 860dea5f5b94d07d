package eval

import (
	"math"
	"testing"
)

func TestMetrics(t *testing.T) {
	tests := []struct {
		name                        string
		ranked                      []string
		judged                      Judged
		hit1, recall2, rr, wantNDCG float64
	}{
		{"nothing found", nil, Judged{"a": 1}, 0, 0, 0, 0},
		{"nothing judged", []string{"a"}, nil, 0, 0, 0, 0},
		{"best first", []string{"a", "b"}, Judged{"a": 1}, 1, 1, 1, 1},
		{"second", []string{"b", "a"}, Judged{"a": 1}, 0, 1, 0.5, 1 / math.Log2(3)},
		{"beyond the depth", []string{"b", "c", "a"}, Judged{"a": 1}, 0, 0, 1.0 / 3, 0},
		{"one of two", []string{"a", "c", "b"}, Judged{"a": 1, "b": 1}, 1, 0.5, 1, 1 / (1 + 1/math.Log2(3))},
		{"grade 0 does not answer", []string{"a", "b"}, Judged{"a": 0, "b": 1}, 0, 1, 0.5, 1 / math.Log2(3)},
		{"grades in the wrong order", []string{"low", "high"}, Judged{"low": 1, "high": 3}, 1, 1, 1,
			(1 + 3/math.Log2(3)) / (3 + 1/math.Log2(3))},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for name, pair := range map[string][2]float64{
				"Hit1":           {Hit1(tt.ranked, tt.judged), tt.hit1},
				"Recall":         {Recall(tt.ranked, tt.judged, 2), tt.recall2},
				"ReciprocalRank": {ReciprocalRank(tt.ranked, tt.judged), tt.rr},
				"NDCG":           {NDCG(tt.ranked, tt.judged, 2), tt.wantNDCG},
			} {
				if got, want := pair[0], pair[1]; math.Abs(got-want) > 1e-12 {
					t.Errorf("%s = %v, want %v", name, got, want)
				}
			}
		})
	}
}
