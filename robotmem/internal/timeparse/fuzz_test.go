package timeparse_test

import (
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/robotmem/robotmem-go/robotmem/internal/timeparse"
)

func FuzzParse(f *testing.F) {
	for _, tc := range append(english, chinese...) {
		f.Add(tc.ask, int64(0))
	}
	for i, ask := range traps {
		f.Add(ask, int64(i)*86_400*11)
	}
	start := wednesday(f)
	f.Fuzz(func(t *testing.T, ask string, later int64) {
		now := start.Add(time.Duration(later%(20*366*86_400)) * time.Second)
		r := timeparse.Parse(ask, now)
		ordered(t, r.After, r.Before)
		end := 0
		for _, ph := range r.Phrases {
			ordered(t, ph.After, ph.Before)
			if ph.Start < end || ph.End <= ph.Start || ph.End > len(ask) || ask[ph.Start:ph.End] != ph.Text {
				t.Fatalf("got phrase %+v, want a part of %q after byte %d", ph, ask, end)
			}
			end = ph.End
		}
		if !utf8.ValidString(r.Rest) {
			t.Errorf("got rest %q, want valid UTF-8", r.Rest)
		}
		if !inOrder(r.Rest, strings.ToValidUTF8(ask, "")) {
			t.Errorf("got rest %q, want runes of %q in their order", r.Rest, ask)
		}
		if r.After == nil && r.Before == nil && r.Rest != strings.ToValidUTF8(ask, "") {
			t.Errorf("got rest %q without bounds, want the question", r.Rest)
		}
	})
}

func ordered(t *testing.T, after, before *time.Time) {
	t.Helper()
	if after != nil && before != nil && !after.Before(*before) {
		t.Errorf("got %v / %v, want after < before", after, before)
	}
	for _, b := range []*time.Time{after, before} {
		if b == nil {
			continue
		}
		if _, err := b.MarshalText(); err != nil {
			t.Errorf("got a bound that RFC 3339 cannot write: %v", err)
		}
	}
}

// inOrder reports whether all of part but its spaces is found in whole, in the
// same order.
func inOrder(part, whole string) bool {
	for _, r := range part {
		if unicode.IsSpace(r) {
			continue
		}
		i := strings.IndexRune(whole, r)
		if i < 0 {
			return false
		}
		whole = whole[i+utf8.RuneLen(r):]
	}
	return true
}

func BenchmarkParse(b *testing.B) {
	now := wednesday(b)
	for _, bc := range []struct{ name, ask string }{
		{"nothing", "which grip force held the wet ceramic cup without slipping"},
		{"english", "what slipped yesterday between 14:00 and 15:00 near the sink?"},
		{"event", "slips before the crash at 14:05"},
		{"chinese", "昨天下午3点之前机械臂抓取杯子失败的原因"},
		{"long", strings.Repeat("the gripper may slip at 14 N when the cup is wet ", 20)},
	} {
		b.Run(bc.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				timeparse.Parse(bc.ask, now)
			}
		})
	}
}
