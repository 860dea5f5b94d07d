package robotmemtest

import (
	"testing"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/admin"
)

// sums adds up the buckets, and checks their order and that there are no gaps.
func sums(t *testing.T, a *admin.ActivityResponse, step time.Duration) (n admin.ActivityBucket) {
	t.Helper()

	for i, b := range a.Buckets {
		if want := a.From.Add(time.Duration(i) * step); !b.From.Equal(want) {
			t.Errorf("bucket %d begins %v, want %v", i, b.From, want)
		}
		n.Facts += b.Facts
		n.Perceptions += b.Perceptions
		n.Failures += b.Failures
		n.Recalls += b.Recalls
		n.ZeroHits += b.ZeroHits
	}
	if end := a.From.Add(time.Duration(len(a.Buckets)) * step); !a.To.Equal(end) || !end.After(time.Now()) ||
		a.From.Location() != time.UTC {
		t.Errorf("from %v to %v, %d buckets of %v", a.From, a.To, len(a.Buckets), step)
	}

	return n
}

var activityCases = []testCase{
	{"CountsWhatWasStoredAndAsked", func(t *testing.T, s robotmem.Service) {
		learn(t, s, grip, nil)
		learn(t, s, "the drawer jammed", object{"task": object{"success": false}})
		gone := learn(t, s, "lesson learned: a wrong postmortem", nil)
		learn(t, s, "lesson learned: postmortem of the jam", nil)
		do(t, s.Forget, &robotmem.ForgetRequest{MemoryID: gone, Reason: "wrong"})
		created(t, s, &robotmem.LearnRequest{Insight: "known elsewhere", Collection: "lab"})
		do(t, s.SavePerception, &robotmem.SavePerceptionRequest{Description: "a view of it", Collection: "lab"})
		recall(t, s, &robotmem.RecallRequest{Query: grip})
		recall(t, s, &robotmem.RecallRequest{Query: "zebra quartz", Collection: "lab"})
		recall(t, s, &robotmem.RecallRequest{Query: "zebra quartz", Collection: "*"})

		for _, tt := range []struct {
			r      admin.ActivityRequest
			bucket string
			n      int
			want   admin.ActivityBucket
		}{
			{
				admin.ActivityRequest{}, "day", 30,
				admin.ActivityBucket{Facts: 5, Perceptions: 1, Failures: 2, Recalls: 3, ZeroHits: 2},
			},
			{
				admin.ActivityRequest{Days: 7}, "hour", 168,
				admin.ActivityBucket{Facts: 5, Perceptions: 1, Failures: 2, Recalls: 3, ZeroHits: 2},
			},
			{
				admin.ActivityRequest{Days: 2, Bucket: "day"}, "day", 2,
				admin.ActivityBucket{Facts: 5, Perceptions: 1, Failures: 2, Recalls: 3, ZeroHits: 2},
			},
			{
				admin.ActivityRequest{Days: 30, Bucket: "hour", Collection: "lab"}, "hour", 720,
				admin.ActivityBucket{Facts: 1, Perceptions: 1, Recalls: 1, ZeroHits: 1},
			},
			{
				admin.ActivityRequest{Collection: "default"}, "day", 30,
				admin.ActivityBucket{Facts: 4, Failures: 2, Recalls: 1},
			},
			{admin.ActivityRequest{Collection: "nobody"}, "day", 30, admin.ActivityBucket{}},
		} {
			res := do(t, s.Activity, &tt.r)
			equal(t, "bucket", res.Bucket, tt.bucket)
			equal(t, "buckets", len(res.Buckets), tt.n)
			step := time.Hour
			if tt.bucket == "day" {
				step = 24 * time.Hour
			}
			equal(t, "sums", sums(t, res, step), tt.want)
		}

		refused(t, s.Activity, &admin.ActivityRequest{Days: 3651}, robotmem.Invalid, "days")
		refused(t, s.Activity, &admin.ActivityRequest{Days: -1}, robotmem.Invalid, "days")
		refused(t, s.Activity, &admin.ActivityRequest{Bucket: "week"}, robotmem.Invalid, "bucket")
		refused(t, s.Activity, &admin.ActivityRequest{Bucket: "hour", Days: 93}, robotmem.Invalid, "bucket", "92")
	}},
}

var waitCases = []testCase{
	{"AnswersAtOnceWhenItIsElsewhere", func(t *testing.T, s robotmem.Service) {
		first := do(t, s.Changes, &admin.ChangesRequest{WaitMS: 60000})
		if first.Changed {
			t.Errorf("without since: %+v", first)
		}

		learn(t, s, grip, nil)
		res := do(t, s.Changes, &admin.ChangesRequest{Since: &first.Change, WaitMS: 60000})
		if !res.Changed || res.Change <= first.Change {
			t.Errorf("%+v after %+v", res, first)
		}

		equal(t, "nothing more", do(t, s.Changes, &admin.ChangesRequest{Since: &res.Change}).Change, res.Change)
		equal(t, "nothing more in a while",
			do(t, s.Changes, &admin.ChangesRequest{Since: &res.Change, WaitMS: 50}).Changed, false)

		for _, step := range []func(){
			func() { do(t, s.Pin, &admin.PinRequest{MemoryID: 1}) },
			func() { end(t, s, start(t, s, "")) },
			func() { do(t, s.Forget, &robotmem.ForgetRequest{MemoryID: 1, Reason: "x"}) },
		} {
			before := res.Change
			step()
			if res = do(t, s.Changes, &admin.ChangesRequest{Since: &before}); !res.Changed {
				t.Errorf("change %d was not noticed", before)
			}
		}

		refused(t, s.Changes, &admin.ChangesRequest{WaitMS: 60001}, robotmem.Invalid, "wait_ms")
		refused(t, s.Changes, &admin.ChangesRequest{Since: new(int64(-1))}, robotmem.Invalid, "since")
	}},
	{"WaitsForAWrite", func(t *testing.T, s robotmem.Service) {
		at := do(t, s.Changes, &admin.ChangesRequest{}).Change

		type answer struct {
			res *admin.ChangesResponse
			err error
		}

		got := make(chan answer, 20) // more than the number of connections
		for range cap(got) {
			go func() {
				res, err := s.Changes(t.Context(), &admin.ChangesRequest{Since: &at, WaitMS: 60000})
				got <- answer{res, err}
			}()
		}

		time.Sleep(tick) // lets most of them start to wait; the results do not depend on it
		learn(t, s, grip, nil)

		for range cap(got) {
			if a := <-got; a.err != nil || !a.res.Changed || a.res.Change <= at {
				t.Errorf("got %+v, %v", a.res, a.err)
			}
		}
	}},
}
