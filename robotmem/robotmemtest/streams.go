package robotmemtest

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"testing"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/admin"
)

// streamer is a service with streams of payloads.
type streamer interface {
	robotmem.Service
	robotmem.Streams
}

// streaming returns a test of robotmem.Streams. It is skipped if the service does not
// implement that interface.
func streaming(run func(t *testing.T, s streamer)) func(*testing.T, robotmem.Service) {
	return func(t *testing.T, s robotmem.Service) {
		if st, ok := s.(streamer); ok {
			run(t, st)
			return
		}
		t.Skip("the service passes no streams")
	}
}

// noise returns n incompressible bytes.
func noise(n int) []byte {
	out := make([]byte, n)
	_, _ = rand.NewChaCha8([32]byte{7}).Read(out) // never fails
	return out
}

func saveFrom(
	t *testing.T, s streamer, r *robotmem.SavePerceptionRequest, data io.Reader,
) *robotmem.SavePerceptionResponse {
	t.Helper()
	res, err := s.SavePerceptionFrom(t.Context(), r, data)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

func openData(t *testing.T, s streamer, id int64) *robotmem.DataReader {
	t.Helper()
	d, err := s.OpenData(t.Context(), &robotmem.MemoryRequest{MemoryID: id})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})

	return d
}

// readsFrom checks the bytes from an offset to the end.
func readsFrom(t *testing.T, d *robotmem.DataReader, what string, offset int64, whence int, want []byte) {
	t.Helper()
	if _, err := d.Seek(offset, whence); err != nil {
		t.Fatal(err)
	}
	got := make([]byte, len(want))
	if _, err := io.ReadFull(d, got); err != nil || !bytes.Equal(got, want) {
		t.Errorf("%s: other bytes than those saved, or %v", what, err)
	}
}

// oneByte returns one byte per Read, like a slow sensor.
type oneByte struct{ io.Reader }

func (r oneByte) Read(p []byte) (int, error) { return r.Reader.Read(p[:min(1, len(p))]) }

// breaks fails at the end of its data.
type breaks struct {
	io.Reader
	err error
}

func (r breaks) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	if err == io.EOF {
		err = r.err
	}
	return n, err
}

var streamCases = []testCase{
	{"InAndOut", streaming(func(t *testing.T, s streamer) {
		for name, data := range map[string][]byte{
			"1 MiB of one kind":  everyByte(4096),
			"1 MiB of noise":     noise(1 << 20),
			"around the border":  noise(256 << 10),
			"over it":            noise(256<<10 + 1),
			"small":              everyByte(1),
			"nothing":            {},
			"larger than a page": noise(5 << 20),
		} {
			res := saveFrom(t, s,
				&robotmem.SavePerceptionRequest{Description: "stream: " + name, Metadata: robotmem.Object{"k": "v"}},
				bytes.NewReader(data))
			if res.Status != "created" || res.Bytes != int64(len(data)) || res.SHA256 != sum(data) ||
				res.Summary == "" {
				t.Errorf("%s: got %+v", name, res)
			}
			d := openData(t, s, res.MemoryID)
			got, err := io.ReadAll(d)
			if err != nil || !bytes.Equal(got, data) || d.Bytes != int64(len(data)) || d.SHA256 != res.SHA256 ||
				d.MediaType != res.MediaType || d.MemoryID != res.MemoryID {
				t.Errorf("%s: %d bytes of %d came back as %+v (%v)", name, len(got), len(data), d, err)
			}
		}
	})},
	{"ByteByByte", streaming(func(t *testing.T, s streamer) {
		data := everyByte(40)
		res := saveFrom(t, s, &robotmem.SavePerceptionRequest{Description: "a slow stream"},
			oneByte{bytes.NewReader(data)})
		equal(t, "checksum", res.SHA256, sum(data))
		got, err := io.ReadAll(oneByte{openData(t, s, res.MemoryID)})
		if err != nil || !bytes.Equal(got, data) {
			t.Errorf("%d bytes came back of %d (%v)", len(got), len(data), err)
		}
	})},
	{"TheSameAsInARequest", streaming(func(t *testing.T, s streamer) {
		whole := do(t, s.SavePerception,
			&robotmem.SavePerceptionRequest{Description: "one and the same", DataBase64: png})
		streamed := saveFrom(t, s, &robotmem.SavePerceptionRequest{Description: "one and the same"},
			bytes.NewReader(png))
		whole.MemoryID, whole.UID, streamed.MemoryID, streamed.UID = 0, "", 0, ""
		equal(t, "response", streamed, whole)
	})},
	{"Seek", streaming(func(t *testing.T, s streamer) {
		for _, data := range [][]byte{everyByte(20), noise(1 << 20), bytes.Repeat([]byte("0123456789"), 300_000)} {
			size := len(data)
			d := openData(t, s,
				saveFrom(t, s, &robotmem.SavePerceptionRequest{Description: "read here and there"},
					bytes.NewReader(data)).MemoryID)
			readsFrom(t, d, "middle", int64(size/2), io.SeekStart, data[size/2:size/2+100])
			readsFrom(t, d, "on from there", 50, io.SeekCurrent, data[size/2+150:size/2+250])
			readsFrom(t, d, "back", -250, io.SeekCurrent, data[size/2:size/2+10])
			readsFrom(t, d, "the end", -5, io.SeekEnd, data[size-5:])
			if n, err := d.Read(make([]byte, 10)); n != 0 || err != io.EOF {
				t.Errorf("after the end: %d, %v", n, err)
			}
			if at, err := d.Seek(0, io.SeekEnd); at != int64(size) || err != nil {
				t.Errorf("size by seeking: %d, %v; want %d", at, err, size)
			}
			if _, err := d.Seek(-1, io.SeekStart); err == nil {
				t.Error("a place before the first byte was taken")
			}
			if _, err := d.Seek(0, 7); err == nil {
				t.Error("an unknown whence was taken")
			}
			if at, err := d.Seek(10, io.SeekEnd); err != nil || at != int64(size+10) {
				t.Errorf("beyond the end: %d, %v", at, err)
			}
			if n, err := d.Read(make([]byte, 10)); n != 0 || err != io.EOF {
				t.Errorf("beyond the end: %d, %v", n, err)
			}
			readsFrom(t, d, "all, again", 0, io.SeekStart, data)
		}
	})},
	{"ReaderThatFailsStoresNothing", streaming(func(t *testing.T, s streamer) {
		for _, n := range []int{0, 100, 1 << 20} {
			_, err := s.SavePerceptionFrom(t.Context(),
				&robotmem.SavePerceptionRequest{Description: "a stream that breaks"},
				breaks{bytes.NewReader(noise(n)), errors.New("the camera was unplugged")})
			checkRefused(t, err, robotmem.Invalid, "data", "the camera was unplugged", "nothing was stored")
		}
		nothingStored(t, s)
	})},
	{"CancelledStreamStoresNothing", streaming(func(t *testing.T, s streamer) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()

		out, in := io.Pipe()
		go func() {
			_, _ = in.Write(noise(1 << 20)) // ends with out
			cancel()
			in.CloseWithError(io.ErrUnexpectedEOF)
		}()
		_, err := s.SavePerceptionFrom(ctx, &robotmem.SavePerceptionRequest{Description: "a stream given up"}, out)
		_ = out.Close()
		if k := robotmem.KindOf(err); k != robotmem.Unavailable && k != robotmem.Invalid {
			t.Errorf("got %v (%s)", err, k)
		}
		nothingStored(t, s)
	})},
	{"BadStreamsAreRefused", streaming(func(t *testing.T, s streamer) {
		for name, tt := range map[string]struct {
			r     robotmem.SavePerceptionRequest
			kind  robotmem.Kind
			field string
		}{
			"no description": {robotmem.SavePerceptionRequest{}, robotmem.Invalid, "description"},
			"text beside it": {
				robotmem.SavePerceptionRequest{Description: "two payloads", Data: "x"}, robotmem.Invalid, "data",
			},
			"bytes beside it": {
				robotmem.SavePerceptionRequest{Description: "two payloads", DataBase64: []byte("x")}, robotmem.Invalid,
				"data",
			},
			"path beside it": {
				robotmem.SavePerceptionRequest{Description: "two payloads", Path: "/tmp/x"}, robotmem.Invalid, "data",
			},
			"unknown session": {
				robotmem.SavePerceptionRequest{
					Description: "of no session", SessionID: "01890a5d-ac96-774b-bcce-b302099a8057",
				},
				robotmem.NotFound, "session_id",
			},
			"no UTF-8": {robotmem.SavePerceptionRequest{Description: "caf\xe9 table"}, robotmem.Invalid, "description"},
		} {
			t.Run(name, func(t *testing.T) {
				_, err := s.SavePerceptionFrom(t.Context(), &tt.r, bytes.NewReader(noise(3<<20)))
				checkRefused(t, err, tt.kind, tt.field)
			})
		}
		nothingStored(t, s)
	})},
	{"UnknownIDs", streaming(func(t *testing.T, s streamer) {
		fact := learn(t, s, grip, nil)
		for id, kind := range map[int64]robotmem.Kind{
			0: robotmem.Invalid, -1: robotmem.Invalid, 999: robotmem.NotFound, fact: robotmem.NotFound,
		} {
			_, err := s.OpenData(t.Context(), &robotmem.MemoryRequest{MemoryID: id})
			checkRefused(t, err, kind, "memory_id")
		}
	})},
	{"OriginIsStoredOnce", streaming(func(t *testing.T, s streamer) {
		r := &robotmem.SavePerceptionRequest{Description: "frame 7 of a bag", Origin: "bag/7"}
		first := saveFrom(t, s, r, bytes.NewReader(noise(1<<20)))
		again := saveFrom(t, s, r, bytes.NewReader(noise(1<<20)))
		if again.Status != "duplicate" || again.MemoryID != first.MemoryID || again.SHA256 != first.SHA256 ||
			again.Bytes != 1<<20 {
			t.Errorf("got %+v, want a duplicate of %d", again, first.MemoryID)
		}
	})},
}

func nothingStored(t *testing.T, s robotmem.Service) {
	t.Helper()
	if st, ok := try(t, s.Stats, &admin.StatsRequest{}); ok && (st.Total != 0 || st.PayloadBytes != 0) {
		t.Errorf("%d memories, %d bytes of payloads; want none", st.Total, st.PayloadBytes)
	}
}
