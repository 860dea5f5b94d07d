package store

import (
	"testing"
	"time"
)

func TestParseNano(t *testing.T) {
	for _, at := range []time.Time{
		time.Unix(0, 0), time.Date(2026, 2, 28, 23, 59, 59, 999_999_999, time.UTC), time.Date(2024, 2, 29, 1, 2, 3, 4, time.FixedZone("", 3600)),
		time.Date(1678, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(2261, 12, 31, 23, 59, 59, 0, time.UTC),
	} {
		if got := ParseNano([]byte(FormatTime(at))); got != at.UnixNano() {
			t.Errorf("%v: got %d, want %d", at, got, at.UnixNano())
		}
	}
	if got, want := ParseNano([]byte("2026-03-01T14:05:00Z")), time.Date(2026, 3, 1, 14, 5, 0, 0, time.UTC).UnixNano(); got != want {
		t.Errorf("another format: got %d, want %d", got, want)
	}
}
