package index

import (
	"bytes"
	"encoding/binary"
	"testing"
	"time"
)

// A damaged count is an error, without an allocation of that size.
func TestDamagedColumnCountIsRefusedAtOnce(t *testing.T) {
	for name, data := range map[string][]byte{
		"names": binary.AppendUvarint([]byte(columnsFormat), 1<<26),
		"rows":  binary.AppendUvarint([]byte(columnsFormat+"\x00\x00\x00"), 1<<26),
	} {
		fastest := time.Minute
		for range 3 {
			start := time.Now()
			if _, err := readColumns(bytes.NewReader(data)); err == nil {
				t.Error("no error")
			}
			fastest = min(fastest, time.Since(start))
		}
		if fastest > 100*time.Millisecond {
			t.Errorf("%s: it took %v for a count of 2^26, under the lock of the columns", name, fastest)
		}
	}
}
