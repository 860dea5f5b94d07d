package recording_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/foxglove/mcap/go/mcap"

	"github.com/robotmem/robotmem-go/perception/importers/recording"
)

// What an MCAP file holds beside its messages is not imported, and is counted.
func TestAttachmentsAreCounted(t *testing.T) {
	path := filepath.Join(t.TempDir(), "with.mcap")
	var data bytes.Buffer
	w, err := mcap.NewWriter(&data, &mcap.WriterOptions{})
	if err != nil {
		t.Fatal(err)
	}
	steps := []func() error{
		func() error { return w.WriteHeader(&mcap.Header{Profile: "ros2"}) },
		func() error {
			return w.WriteMetadata(&mcap.Metadata{Name: "robot", Metadata: map[string]string{"id": "arm-7"}})
		},
		func() error {
			return w.WriteAttachment(&mcap.Attachment{Name: "map.pgm", MediaType: "image/pgm", DataSize: 3, Data: bytes.NewReader([]byte("abc"))})
		},
		func() error {
			return w.WriteAttachment(&mcap.Attachment{Name: "notes.txt", MediaType: "text/plain", DataSize: 1, Data: bytes.NewReader([]byte("x"))})
		},
		w.Close,
		func() error { return os.WriteFile(path, data.Bytes(), 0o600) },
	}
	for _, step := range steps {
		if err := step(); err != nil {
			t.Fatal(err)
		}
	}

	src, err := recording.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	// Each pass begins its counts at zero.
	for range 2 {
		info, err := src.Info(t.Context())
		if err != nil || info.Attachments != 2 || info.MetadataRecords != 1 {
			t.Errorf("got %+v, %v, want 2 attachments and 1 metadata record", info, err)
		}
	}
}
