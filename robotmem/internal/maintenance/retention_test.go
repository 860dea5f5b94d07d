package maintenance

import (
	"cmp"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/robotmem/robotmem-go/robotmem/admin"
	"github.com/robotmem/robotmem-go/robotmem/internal/store"
)

var planNow = time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC)

// held makes a perception in a file beside the database, so many hours old.
func held(id int64, sum string, bytes int64, hoursAgo int, t store.Tier) store.Holding {
	return store.Holding{
		ID: id, Collection: "a", PerceptionType: "visual", Observed: store.FormatTime(planNow.Add(-time.Duration(hoursAgo) * time.Hour)),
		Sum: sum, Bytes: bytes, InFolder: true, Tier: t,
	}
}

func planned(plan []store.Evicted) (out []int64) {
	for _, p := range plan {
		out = append(out, p.ID)
	}
	return out
}

func TestWhatIsWorthLeastGoesFirst(t *testing.T) {
	all := func() []store.Holding {
		return []store.Holding{
			held(1, "1", 10, 1, store.TierPinned), held(2, "2", 10, 9, store.TierFailed), held(3, "3", 10, 8, store.TierUseful), held(4, "4", 10, 7, store.TierRecalled),
			held(5, "5", 10, 6, store.TierPlain), held(6, "6", 10, 5, store.TierPlain), held(7, "7", 10, 1, store.TierGone),
		}
	}
	in := func(h store.Holding, collection, kind string) store.Holding {
		h.Collection, h.PerceptionType = collection, kind
		return h
	}
	for _, tt := range []struct {
		name   string
		held   []store.Holding
		limits admin.Retention
		free   int64
		want   []int64
	}{
		{"within the budget", all(), admin.Retention{Budgets: []admin.Budget{{MaxBytes: 70}}}, -1, nil},
		{"one byte over", all(), admin.Retention{Budgets: []admin.Budget{{MaxBytes: 69}}}, -1, []int64{7}},
		{"all go in their order", all(), admin.Retention{Budgets: []admin.Budget{{MaxBytes: 1}}}, -1, []int64{7, 5, 6, 4, 3, 2, 1}},
		{"age spares what helped, failed or is pinned", all(), admin.Retention{Budgets: []admin.Budget{{MaxAgeDays: 1e-9}}}, -1, []int64{7, 5, 6, 4}},
		{"age", all(), admin.Retention{Budgets: []admin.Budget{{MaxAgeDays: 5.5 / 24}}}, -1, []int64{5, 4}},
		{"another collection", all(), admin.Retention{Budgets: []admin.Budget{{Collection: "b", MaxBytes: 1}}}, -1, nil},
		{"another type", all(), admin.Retention{Budgets: []admin.Budget{{PerceptionType: "tactile", MaxBytes: 1, MaxAgeDays: 1e-9}}}, -1, nil},
		{
			"a budget counts its own alone",
			[]store.Holding{in(held(1, "1", 10, 9, store.TierPlain), "b", "visual"), in(held(2, "2", 10, 8, store.TierPlain), "a", "tactile"), held(3, "3", 10, 7, store.TierPlain), held(4, "4", 10, 6, store.TierPlain)},
			admin.Retention{Budgets: []admin.Budget{{Collection: "a", PerceptionType: "visual", MaxBytes: 10}}}, -1, []int64{3},
		},
		{"enough is free", all(), admin.Retention{MinFreeBytes: 100}, 100, nil},
		{"a little is missing", all(), admin.Retention{MinFreeBytes: 100}, 89, []int64{7, 5}},
		{"more is missing than there is", all(), admin.Retention{MinFreeBytes: 1000}, 0, []int64{7, 5, 6, 4, 3, 2, 1}},
		{"a budget has made room already", all(), admin.Retention{Budgets: []admin.Budget{{MaxBytes: 30}}, MinFreeBytes: 100}, 95, []int64{7, 5, 6, 4}},
		{
			"what is in the file makes no room",
			func() []store.Holding { h := all(); h[4].InFolder = false; return h }(),
			admin.Retention{MinFreeBytes: 100}, 89, []int64{7, 6},
		},
		{
			"a payload is counted once",
			[]store.Holding{held(1, "x", 10, 3, store.TierPlain), held(2, "x", 10, 2, store.TierPlain), held(3, "y", 10, 1, store.TierPlain)},
			admin.Retention{Budgets: []admin.Budget{{MaxBytes: 20}}}, -1, nil,
		},
		{
			"and goes with the last that names it",
			[]store.Holding{held(1, "x", 10, 3, store.TierPlain), held(2, "x", 10, 2, store.TierPlain), held(3, "y", 10, 1, store.TierPlain)},
			admin.Retention{Budgets: []admin.Budget{{MaxBytes: 10}}}, -1, []int64{1, 2},
		},
		{
			"what another collection shares leaves the budget nevertheless",
			[]store.Holding{held(1, "x", 100, 4, store.TierPlain), in(held(2, "x", 100, 3, store.TierPlain), "b", "visual"), held(3, "y", 50, 2, store.TierPlain), held(4, "z", 50, 1, store.TierPlain)},
			admin.Retention{Budgets: []admin.Budget{{Collection: "a", MaxBytes: 120}}}, -1, []int64{1},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := planned(PlanEvictions(tt.held, tt.limits, tt.free, planNow)); !slices.Equal(got, tt.want) {
				t.Errorf("got %v, want %v", got, tt.want)
			}
		})
	}
}

func TestRecordingsAreThinnedBeforeAnyOtherGoes(t *testing.T) {
	var all []store.Holding
	for i := range 33 {
		h := held(int64(i+1), fmt.Sprint(i), 10, 100-i, store.TierPlain)
		h.Recording = "session\x00visual\x00camera"
		all = append(all, h)
	}
	all = append(all, held(100, "old", 10, 500, store.TierPlain))
	short := held(101, "short", 10, 400, store.TierPlain)
	short.Recording = "session\x00visual\x00other"
	all = append(all, short)

	got := planned(PlanEvictions(slices.Clone(all), admin.Retention{Budgets: []admin.Budget{{MaxBytes: 1}}}, -1, planNow))
	var want []int64
	for id := int64(2); id <= 32; id += 2 { // 33 are left with 17
		want = append(want, id)
	}
	want = append(want, 100, 101)
	for id := int64(1); id <= 33; id += 2 {
		want = append(want, id)
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
}

func TestRecordingsOfSixteenAreLongEnough(t *testing.T) {
	for n, thinned := range map[int]int{longRecording - 1: 0, longRecording: 7} {
		var all []store.Holding
		for i := range n {
			h := held(int64(i+1), fmt.Sprint(i), 10, 100-i, store.TierPlain)
			h.Recording = "r"
			all = append(all, h)
		}
		thin(all)
		got := 0
		for i := range all {
			if all[i].Tier == store.TierThinned {
				got++
			}
		}
		if got != thinned {
			t.Errorf("of %d: %d are thinned, want %d", n, got, thinned)
		}
	}
}

// modelPlan does what PlanEvictions promises in the plainest way: after each one
// that goes, everything is counted anew.
func modelPlan(all []store.Holding, limits admin.Retention, free int64, now time.Time) (plan []int64, freed int64) {
	thin(all)
	slices.SortStableFunc(all, func(a, b store.Holding) int { return cmp.Compare(a.ID, b.ID) })
	slices.SortStableFunc(all, func(a, b store.Holding) int { return cmp.Compare(a.Observed, b.Observed) })
	slices.SortStableFunc(all, func(a, b store.Holding) int { return cmp.Compare(a.Tier, b.Tier) })
	gone := map[int64]bool{}
	disk := func(in func(*store.Holding) bool) (sum int64) {
		sums := map[string]int64{}
		for i := range all {
			if !gone[all[i].ID] && in(&all[i]) {
				sums[all[i].Sum] = all[i].Bytes
			}
		}
		for _, n := range sums {
			sum += n
		}
		return sum
	}
	everything := func(*store.Holding) bool { return true }
	before := disk(everything)
	inFolder := func(h *store.Holding) bool { return h.InFolder }
	folder := disk(inFolder)
	first := func(in func(*store.Holding) bool) bool {
		for i := range all {
			if !gone[all[i].ID] && in(&all[i]) {
				gone[all[i].ID] = true
				plan = append(plan, all[i].ID)
				return true
			}
		}
		return false
	}
	for _, b := range limits.Budgets {
		held := func(h *store.Holding) bool { return budgetHolds(&b, h) }
		for b.MaxAgeDays > 0 && first(func(h *store.Holding) bool {
			at, _ := time.Parse(time.RFC3339Nano, h.Observed)
			return held(h) && h.Tier < store.TierUseful && now.Sub(at).Hours() > 24*b.MaxAgeDays
		}) {
		}
		for b.MaxBytes > 0 && disk(held) > b.MaxBytes && first(held) {
		}
	}
	for free >= 0 && free+folder-disk(inFolder) < limits.MinFreeBytes && first(inFolder) {
	}
	return plan, before - disk(everything)
}

func TestPlansEqualTheModel(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 1))
	evictions := 0
	for round := range 400 {
		var all []store.Holding
		size := map[string]int64{}
		for i := range 1 + rng.IntN(60) {
			sum := fmt.Sprint(rng.IntN(50))
			if size[sum] == 0 {
				size[sum] = 1 + rng.Int64N(100)
			}
			h := held(int64(i+1), sum, size[sum], rng.IntN(40), []store.Tier{store.TierGone, store.TierPlain, store.TierPlain, store.TierPlain, store.TierRecalled, store.TierUseful, store.TierFailed, store.TierPinned}[rng.IntN(8)])
			h.Collection, h.PerceptionType = []string{"a", "b"}[rng.IntN(2)], []string{"visual", "tactile"}[rng.IntN(2)]
			h.Recording = []string{"", "r", "s"}[rng.IntN(3)]
			h.InFolder = len(sum)%2 == 0
			all = append(all, h)
		}
		var limits admin.Retention
		for range rng.IntN(4) {
			limits.Budgets = append(limits.Budgets, admin.Budget{
				Collection: []string{"", "*", "a", "b"}[rng.IntN(4)], PerceptionType: []string{"", "visual"}[rng.IntN(2)],
				MaxBytes: rng.Int64N(3) * rng.Int64N(900), MaxAgeDays: float64(rng.IntN(2)) * (float64(rng.IntN(40)) + 0.5) / 24,
			})
		}
		free := int64(-1)
		if rng.IntN(2) == 0 {
			free, limits.MinFreeBytes = rng.Int64N(500), rng.Int64N(1500)
		}
		want, wantFreed := modelPlan(slices.Clone(all), limits, free, planNow)
		plan := PlanEvictions(all, limits, free, planNow)
		if got := planned(plan); !slices.Equal(got, want) {
			t.Fatalf("round %d, %+v, %d free:\ngot  %v\nwant %v", round, limits, free, got, want)
		}
		freed, gone := int64(0), map[int64]bool{}
		for _, p := range plan {
			freed += p.Freed
			gone[p.ID] = true
		}
		if freed != wantFreed || len(gone) != len(plan) {
			t.Fatalf("round %d: %d bytes are freed, want %d; %d go, %v", round, freed, wantFreed, len(plan), slices.Sorted(maps.Keys(gone)))
		}
		evictions += len(plan)
	}
	if evictions < 1000 {
		t.Errorf("only %d go: the test tests nothing", evictions)
	}
}
