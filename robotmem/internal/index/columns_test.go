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

// Rows without a memory have the first class. A snapshot that gives it another is refused, even
// if its checksum is right: lists would read what does not exist.
func TestASnapshotWhoseFirstClassIsAMemoryIsRefused(t *testing.T) {
	read := func(first class) error {
		r := &Columns{Rows: make([]packedRow, 2)}
		r.names.id("")
		r.classes.id(first)
		var b bytes.Buffer
		if err := r.Write(&b); err != nil {
			t.Fatal(err)
		}
		_, err := readColumns(&b)
		return err
	}
	if err := read(class{}); err != nil {
		t.Errorf("the empty class: %v", err)
	}
	if err := read(class{Kind: 1, Status: statusActive, Belief: 7}); err == nil {
		t.Error("a class with a belief that is not there is accepted")
	}
}
