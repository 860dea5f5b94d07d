package recording_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/foxglove/mcap/go/mcap"

	"github.com/robotmem/robotmem-go/perception/importers/recording"
)

// A few bytes that unpack to many are read up to a limit, whatever the format is.
func TestPackedRecordingsHaveALimit(t *testing.T) {
	const size = 80 << 20
	for name, record := range map[string]string{
		"\x89MCAP0\r\n":    "\x7f" + strings.Repeat("\x00", 8), // of an unknown kind
		"#ROSBAG V2.0\n":   strings.Repeat("\x00", 64),
		"ULog\x01\x12\x35": strings.Repeat("\x00", 64),
	} {
		data := zstded(t, []byte(name+strings.Repeat(record, size/len(record))))
		if len(data) > 200<<10 {
			t.Fatalf("%q: %d bytes are no bomb", name, len(data))
		}
		report, err := accounted(t, write(t, "x.zst", data))
		switch {
		case err != nil:
			if !strings.Contains(err.Error(), "unpacks to more than 67108864 bytes; unpack it first") {
				t.Errorf("%q: %v", name, err)
			}
		case report.Broken == "" || strings.HasPrefix(name, "\x89") && !strings.Contains(report.Broken, "unpacks to more than"):
			t.Errorf("%q: broken is %q", name, report.Broken)
		}
	}
}

// Zeros in the place of a message, as a file system leaves them after a crash, are damage and no records.
func TestZerosInPlaceOfAMessage(t *testing.T) {
	var b bytes.Buffer
	w, err := mcap.NewWriter(&b, &mcap.WriterOptions{})
	if err != nil {
		t.Fatal(err)
	}
	err = errors.Join(w.WriteHeader(&mcap.Header{}), w.WriteChannel(&mcap.Channel{ID: 1, Topic: "/t", MessageEncoding: "json"}))
	for i := range 10 {
		// A record of 36 bytes, which are as many as the heads of four.
		err = errors.Join(err, w.WriteMessage(&mcap.Message{ChannelID: 1, LogTime: 1_700_000_000_000_000_000 + uint64(i), Data: []byte("[1,2]")}))
	}
	if err := errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}

	data := b.Bytes()
	at := bytes.Index(data, []byte("[1,2]")) + len("[1,2]") // the second message begins here
	copy(data[at:], make([]byte, 36))
	rows, broken := read(t, open(t, write(t, "x.mcap", data)))
	at0 := (*recording.BreakError)(nil)
	if len(broken) == 0 || !errors.As(broken[0], &at0) || at0.Offset != int64(at) {
		t.Errorf("got %d messages, errors %v, want one at byte %d", len(rows), broken, at)
	}
}
