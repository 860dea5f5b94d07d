package recording_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/robotmem/robotmem-go/perception/importers/recording"
	"github.com/robotmem/robotmem-go/perception/segment"
)

// A time that cannot be is no time of observation: the sink takes the time at which it received the
// perception, the metadata keeps what the file claims, and the report counts it.
func TestImpossibleTimes(t *testing.T) {
	const n = 20
	real := time.Date(2024, 5, 1, 12, 0, 0, 0, time.UTC)
	for name, test := range map[string]struct {
		log, publish func(i uint64) uint64
		observed     bool // the publish time counts
		note, claim  string
	}{
		"the largest number": {log: func(i uint64) uint64 { return math.MaxUint64 - i }, note: "after 2261", claim: "18446744073709551615"},
		"after 2262":         {log: func(i uint64) uint64 { return 9_300_000_000e9 + i*1e7 }, note: "after 2261", claim: "9300000000000000000"},
		"seconds":            {log: func(i uint64) uint64 { return 1_700_000_000 + i }, note: "seconds written as nanoseconds", claim: "1700000000"},
		"milliseconds":       {log: func(i uint64) uint64 { return 1_700_000_000_000 + 10*i }, note: "milliseconds written as nanoseconds", claim: "1700000000000"},
		"published well":     {log: func(i uint64) uint64 { return math.MaxUint64 - i }, publish: func(i uint64) uint64 { return uint64(real.UnixNano()) + i*1e7 }, observed: true, note: "after 2261", claim: "18446744073709551615"},
	} {
		t.Run(name, func(t *testing.T) {
			if test.publish == nil {
				test.publish = test.log
			}
			var messages []segment.Message
			for i := range uint64(n) {
				messages = append(messages, segment.Message{LogTime: test.log(i), PublishTime: test.publish(i), Data: vecMessage(float64(i))})
			}
			s := newStore()
			report := importAll(t, open(t, write(t, "a.mcap", mcapOf(t, vec(), messages))), recording.Options{}, s)
			counted := uint64(0)
			for note, count := range topics(report)["/t"].Notes {
				if !strings.Contains(note, test.note) {
					t.Errorf("got note %q, want %q", note, test.note)
				}
				counted += count
			}
			if counted != n || report.Mistimed != n {
				t.Errorf("%d and %d messages are counted, want %d", counted, report.Mistimed, n)
			}
			for _, p := range s.of("/t") {
				if want := test.observed; p.ObservedAt.IsZero() == want || want && p.ObservedAt.Sub(real) > time.Second {
					t.Errorf("observed at %v", p.ObservedAt)
				}
				if claim, _ := p.Metadata["time_problem"].(string); !strings.Contains(claim, test.note) {
					t.Errorf("the metadata has %v", p.Metadata)
				}
			}
			if got := s.of("/t")[0].Metadata["log_time"]; got != test.claim {
				t.Errorf("log_time is %v, want %v", got, test.claim)
			}
			for _, origin := range s.order {
				if p := s.saved[origin]; strings.Contains(p.Description, "18446744073.") || strings.Contains(p.Description, "2562047h") {
					t.Errorf("the description counts from a time that cannot be: %q", p.Description)
				}
			}
		})
	}
}

// A database has signed times: one before 1970 is shown as it is written.
func TestTimesBefore1970(t *testing.T) {
	s := newStore()
	path := db3Of(t, []int64{-5_000_000_000, -4_000_000_000, 1_700_000_000e9}, [][]byte{vecMessage(1), vecMessage(2), vecMessage(3)})
	report := importAll(t, open(t, path), recording.Options{}, s)
	if report.Mistimed != 2 {
		t.Errorf("%d messages are counted, want 2", report.Mistimed)
	}
	for note := range topics(report)["/t"].Notes {
		if !strings.Contains(note, "before 1970") {
			t.Errorf("got note %q", note)
		}
	}
	all := s.of("/t")
	if len(all) != 2 || all[0].Metadata["log_time"] != "-5000000000" || !all[0].ObservedAt.IsZero() {
		t.Fatalf("got %d segments; the first has %v, observed at %v", len(all), all[0].Metadata, all[0].ObservedAt)
	}
	if got, want := all[1].ObservedAt, time.Unix(1_700_000_000, 0); !got.Equal(want) || all[1].Metadata["time_problem"] != nil {
		t.Errorf("the good message is of %v with %v, want %v", got, all[1].Metadata, want)
	}
	if got := s.saved[s.order[0]]; !got.ObservedAt.Equal(time.Unix(1_700_000_000, 0)) {
		t.Errorf("the recording began at %v", got.ObservedAt)
	}
}

// A simulator counts from 0, which is a clock of its own.
func TestSimulatedTimes(t *testing.T) {
	s := newStore()
	var messages []segment.Message
	for i := range uint64(100) {
		messages = append(messages, segment.Message{LogTime: 1_000_000_000 + i*1e7, PublishTime: 1_000_000_000 + i*1e7, Data: vecMessage(float64(i))})
	}
	report := importAll(t, open(t, write(t, "a.mcap", mcapOf(t, vec(), messages))), recording.Options{}, s)
	if report.Mistimed != 0 || len(topics(report)["/t"].Notes) != 0 {
		t.Errorf("got %d, %v", report.Mistimed, topics(report)["/t"].Notes)
	}
	if got := s.of("/t")[0].ObservedAt; !got.Equal(time.Unix(1, 0)) {
		t.Errorf("observed at %v", got)
	}
}

// A clock that is set while it records has times before: these are no times of observation, and count back from there.
func TestAClockThatIsSetLate(t *testing.T) {
	var messages []segment.Message
	for i := range uint64(10) {
		at := 5_000_000_000 + i*1e7
		if i >= 5 {
			at = 1_700_000_000e9 + i*1e7
		}
		messages = append(messages, segment.Message{LogTime: at, PublishTime: at, Data: vecMessage(float64(i))})
	}
	s := newStore()
	report := importAll(t, open(t, write(t, "a.mcap", mcapOf(t, vec(), messages))), recording.Options{}, s)
	all := s.of("/t")
	if report.Mistimed != 5 || len(all) != 2 {
		t.Fatalf("%d messages are counted in %d segments", report.Mistimed, len(all))
	}
	if !all[0].ObservedAt.Equal(time.Unix(1_700_000_000, 1e7)) || !all[1].ObservedAt.Equal(time.Unix(1_700_000_000, 5e7)) || !strings.Contains(all[1].Description, "at 0.0 s") {
		t.Errorf("observed at %v and %v: %s", all[0].ObservedAt, all[1].ObservedAt, all[1].Description)
	}
}
