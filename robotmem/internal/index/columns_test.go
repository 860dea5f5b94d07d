package index

import (
	"bytes"
	"encoding/binary"
	"testing"
	"time"
)

// A damaged count is refused at once.
func TestDamagedRosterCountIsRefusedAtOnce(t *testing.T) {
	for name, data := range map[string][]byte{
		"names": append([]byte{rosterFormat}, binary.AppendUvarint(nil, 1<<26)...),
		"paths": append([]byte{rosterFormat, 0, 0, 0}, binary.AppendUvarint(nil, 1<<26)...),
	} {
		start := time.Now()
		if _, err := readRoster(bytes.NewReader(data)); err == nil {
			t.Error("no error")
		}
		if took := time.Since(start); took > 100*time.Millisecond {
			t.Errorf("%s: it took %v for a count of 2^26, under the roster's lock", name, took)
		}
	}
}
