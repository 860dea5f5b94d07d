package robotmemtest

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/robotmem/robotmem-go/robotmem"
)

// everyByte returns all 256 byte values, including NUL, n times.
func everyByte(n int) []byte {
	one := make([]byte, 256)
	for i := range one {
		one[i] = byte(i)
	}
	return bytes.Repeat(one, n)
}

func sum(data []byte) string {
	h := sha256.Sum256(data)
	return hex.EncodeToString(h[:])
}

var png = append([]byte("\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x06\x00\x00\x00\x1f\x15\xc4\x89"), everyByte(1)...)

var perceptionCases = []testCase{
	{"BytesComeBackAsTheyWere", func(t *testing.T, s robotmem.Service) {
		for name, data := range map[string][]byte{
			"every byte":        everyByte(1),
			"over a page":       everyByte(64),
			"beside the file":   everyByte(4096),
			"one NUL":           {0},
			"a trace on a grid": []byte(strings.Repeat("0.1,0.2,0.3\n", 5000)),
		} {
			res := do(t, s.SavePerception,
				&robotmem.SavePerceptionRequest{Description: "payload: " + name, DataBase64: data})
			kind := map[bool]string{true: "proprioceptive", false: "visual"}[name == "a trace on a grid"]
			if res.Bytes != int64(len(data)) || res.SHA256 != sum(data) || res.MemoryID < 1 || len(res.UID) != 36 ||
				res.PerceptionType != kind || res.Summary == "" || res.HasEmbedding {
				t.Errorf("%s: got %+v", name, res)
			}
			if got, ok := try(t, s.Data, &robotmem.MemoryRequest{MemoryID: res.MemoryID}); ok {
				if !bytes.Equal(got.DataBase64, data) || got.SHA256 != sum(data) || got.Bytes != int64(len(data)) ||
					got.MediaType != res.MediaType {
					t.Errorf("%s: %d bytes came back as %d of %s", name, len(data), len(got.DataBase64), got.MediaType)
				}
			}
		}
	}},
	{"TextIsKeptAsUTF8", func(t *testing.T, s robotmem.Service) {
		const text = "t,fx\n0,\"é 日本\"\r\n\x00\t🦾"
		res := do(t, s.SavePerception,
			&robotmem.SavePerceptionRequest{Description: "force trace", PerceptionType: "tactile", Data: text})
		if res.SHA256 != sum([]byte(text)) || res.Bytes != int64(len(text)) || res.PerceptionType != "tactile" {
			t.Errorf("got %+v", res)
		}
		if got, ok := try(t, s.Data, &robotmem.MemoryRequest{MemoryID: res.MemoryID}); ok {
			equal(t, "text", string(got.DataBase64), text)
		}
	}},
	{"MediaTypeIsSniffedUnlessGiven", func(t *testing.T, s robotmem.Service) {
		for name, tt := range map[string]struct {
			r    robotmem.SavePerceptionRequest
			want string
		}{
			"png": {robotmem.SavePerceptionRequest{DataBase64: png}, "image/png"},
			"jpeg": {
				robotmem.SavePerceptionRequest{DataBase64: []byte("\xff\xd8\xff\xe0\x00\x10JFIF\x00\x01")},
				"image/jpeg",
			},
			"text": {robotmem.SavePerceptionRequest{Data: "the door is open"}, "text/plain"},
			"bytes": {
				robotmem.SavePerceptionRequest{DataBase64: []byte{0, 1, 2, 250, 251}}, "application/octet-stream",
			},
			"given": {robotmem.SavePerceptionRequest{DataBase64: png, MediaType: "image/x-depth"}, "image/x-depth"},
		} {
			r := tt.r
			r.Description = "sniffed: " + name
			if res := do(t, s.SavePerception, &r); !strings.HasPrefix(res.MediaType, tt.want) {
				t.Errorf("%s: %q, want %q", name, res.MediaType, tt.want)
			}
		}
	}},
	{"WordsAloneAreEnough", func(t *testing.T, s robotmem.Service) {
		res := do(t, s.SavePerception,
			&robotmem.SavePerceptionRequest{Description: "a glass on the shelf", PerceptionType: "spatial"})
		if res.Bytes != 0 {
			t.Errorf("got %+v", res)
		}
		equal(t, "recalled", recalled(t, s, &robotmem.RecallRequest{Query: "shelf"}), []int64{res.MemoryID})
	}},
	{"RecalledByItsDescriptionAndWithoutItsBytes", func(t *testing.T, s robotmem.Service) {
		saved := do(t, s.SavePerception, &robotmem.SavePerceptionRequest{
			Description: "depth image of a wet glass", Data: "SECRETBYTES", MediaType: "application/x-raw", Metadata: robotmem.Object{"rate_hz": json.Number("100.0")},
			Context: robotmem.Object{"i": 7}, Collection: "lab", ObservedAt: at(0),
		})
		res := recall(t, s, &robotmem.RecallRequest{Query: "wet glass", Collection: "lab"})
		if len(res.Memories) != 1 {
			t.Fatalf("got %+v", res)
		}

		m := res.Memories[0]
		if m.MemoryID != saved.MemoryID || m.Type != "perception" || m.Content != "depth image of a wet glass" ||
			m.PerceptionType != "visual" || m.MediaType != "application/x-raw" || m.DataURI == "" ||
			!m.ObservedAt.Equal(day) {
			t.Errorf("got %+v", m)
		}
		if data, err := json.Marshal(res); err != nil || bytes.Contains(data, []byte("SECRETBYTES")) {
			t.Errorf("the payload is in the answer (%v)", err)
		}

		equal(t, "bytes are not searched",
			recalled(t, s, &robotmem.RecallRequest{Query: "SECRETBYTES", Collection: "lab"}), []int64{})
		whole := do(t, s.Get, &robotmem.MemoryRequest{MemoryID: saved.MemoryID})
		equal(t, "metadata", whole.Metadata, robotmem.Object{"rate_hz": json.Number("100.0")})
		if whole.Bytes != 11 || whole.SHA256 != sum([]byte("SECRETBYTES")) || whole.Category == "" {
			t.Errorf("got %+v", whole)
		}
	}},
	{"TheSameTwiceIsTwo", func(t *testing.T, s robotmem.Service) {
		r := &robotmem.SavePerceptionRequest{Description: "the very same view", DataBase64: png}
		first, second := do(t, s.SavePerception, r), do(t, s.SavePerception, r)
		if first.MemoryID == second.MemoryID {
			t.Errorf("both are %d", first.MemoryID)
		}
	}},
	{"BadRequestsAreRefused", func(t *testing.T, s robotmem.Service) {
		valid := robotmem.SavePerceptionRequest{Description: "a view of it"}
		for name, tt := range map[string]struct {
			change func(*robotmem.SavePerceptionRequest)
			kind   robotmem.Kind
			field  string
		}{
			"short description": {
				func(r *robotmem.SavePerceptionRequest) { r.Description = "日本語字" }, robotmem.Invalid, "description",
			},
			"unknown type": {
				func(r *robotmem.SavePerceptionRequest) { r.PerceptionType = "smell" }, robotmem.Invalid,
				"perception_type",
			},
			"path not allowed": {
				func(r *robotmem.SavePerceptionRequest) { r.Path = "/etc/hostname" }, robotmem.Forbidden, "path",
			},
			"path that climbs": {
				func(r *robotmem.SavePerceptionRequest) { r.Path = "../../etc/hostname" }, robotmem.Forbidden, "path",
			},
			"bad collection": {
				func(r *robotmem.SavePerceptionRequest) { r.Collection = "*" }, robotmem.Invalid, "collection",
			},
			"long description": {
				func(r *robotmem.SavePerceptionRequest) { r.Description = strings.Repeat("x", 16385) },
				robotmem.TooLarge, "description",
			},
			"observed long ago": {
				func(r *robotmem.SavePerceptionRequest) { r.ObservedAt = new(day.AddDate(-1000, 0, 0)) },
				robotmem.Invalid, "observed_at",
			},
			"text that is not": {
				func(r *robotmem.SavePerceptionRequest) { r.Data = "a\xff" }, robotmem.Invalid, "data",
			},
			"media type of none": {
				func(r *robotmem.SavePerceptionRequest) { r.MediaType = strings.Repeat("x", 129) }, robotmem.Invalid,
				"media_type",
			},
		} {
			r := valid
			tt.change(&r)
			t.Run(name, func(t *testing.T) { refused(t, s.SavePerception, &r, tt.kind, tt.field) })
		}

		for _, r := range []robotmem.SavePerceptionRequest{
			{Data: "x", DataBase64: []byte("x")},
			{Data: "x", Path: "/tmp/x"},
			{DataBase64: []byte("x"), Path: "/tmp/x"},
		} {
			r.Description = "more than one payload"
			if _, err := s.SavePerception(t.Context(), &r); robotmem.KindOf(err) != robotmem.Invalid ||
				!strings.Contains(err.Error(), "at most one") {
				t.Errorf("got %v, want it invalid", err)
			}
		}

		equal(t, "nothing was stored", recalled(t, s, &robotmem.RecallRequest{Type: "perception"}), []int64{})
	}},
	{"InlineLimit", func(t *testing.T, s robotmem.Service) {
		if testing.Short() {
			t.Skip("moves 44 MB of JSON")
		}
		refused(t, s.SavePerception,
			&robotmem.SavePerceptionRequest{Description: "too much at once", DataBase64: make([]byte, 32<<20+1)},
			robotmem.TooLarge, "data_base64")
	}},
	{"LikeAnother", func(t *testing.T, s robotmem.Service) {
		wave := func(k int) string {
			var b strings.Builder
			for i := range 200 {
				b.WriteString([]string{"0", "1", "4", "9", "4", "1"}[i/k%6] + "\n")
			}
			return b.String()
		}
		save := func(description, data string) int64 {
			return do(t, s.SavePerception,
				&robotmem.SavePerceptionRequest{
					Description: description, PerceptionType: "tactile", Data: data, MediaType: "text/csv",
				}).MemoryID
		}
		first, twin := save("trace of a grip", wave(3)), save("trace of another grip", wave(3))
		save("trace of a fall", wave(31))
		learn(t, s, "a fact is no perception", nil)
		got := recalled(t, s, &robotmem.RecallRequest{Like: &robotmem.Like{MemoryID: first}})
		if len(got) == 0 || got[0] != twin {
			t.Errorf("like %d: got %v, want %d first", first, got, twin)
		}

		for _, id := range got {
			if id == first {
				t.Error("it is like itself")
			}
		}

		refused(t, s.Recall, &robotmem.RecallRequest{Like: &robotmem.Like{}}, robotmem.Invalid, "like", "exactly one")
		refused(t, s.Recall, &robotmem.RecallRequest{Like: &robotmem.Like{MemoryID: 1, DataBase64: []byte("x")}},
			robotmem.Invalid, "like")
	}}, {"LikeData", func(t *testing.T, s robotmem.Service) {
		var near, far strings.Builder
		for i := range 200 {
			fmt.Fprintf(&near, "%.3f\n", math.Sin(float64(i)/10))
			fmt.Fprintf(&far, "%.3f\n", math.Sin(float64(i)))
		}

		save := func(r *robotmem.SavePerceptionRequest) int64 { return do(t, s.SavePerception, r).MemoryID }
		same := save(&robotmem.SavePerceptionRequest{Description: "a slow swing", PerceptionType: "tactile", Data: near.String(), MediaType: "text/csv"})
		other := save(&robotmem.SavePerceptionRequest{Description: "a quick swing", PerceptionType: "tactile", Data: far.String(), MediaType: "text/csv"})
		save(&robotmem.SavePerceptionRequest{Description: "an image of it", DataBase64: grey(20, 20)})

		for name, like := range map[string]robotmem.Like{
			"text":            {Data: near.String(), MediaType: "text/csv"},
			"bytes":           {DataBase64: []byte(near.String()), MediaType: "text/csv"},
			"with a metadata": {Data: near.String(), MediaType: "text/csv", Metadata: robotmem.Object{"rate_hz": 100}},
		} {
			equal(t, name, recalled(t, s, &robotmem.RecallRequest{Like: &like}), []int64{same, other})
		}

		refused(t, s.Recall, &robotmem.RecallRequest{Like: &robotmem.Like{Data: "no numbers at all"}}, robotmem.Invalid,
			"like.data", "compared")
		refused(t, s.Recall, &robotmem.RecallRequest{Like: &robotmem.Like{Data: near.String(), MediaType: "nonsense"}},
			robotmem.Invalid, "like.media_type")
		refused(t, s.Recall, &robotmem.RecallRequest{Like: &robotmem.Like{MemoryID: 999}}, robotmem.NotFound,
			"like.memory_id")
	}},
	{"OriginIsStoredOnce", func(t *testing.T, s robotmem.Service) {
		r := robotmem.SavePerceptionRequest{
			Description: "frame 7 of a bag", Data: "0.1,0.2", Origin: "bag/camera/7", Collection: "lab",
		}
		first := do(t, s.SavePerception, &r)
		equal(t, "status", first.Status, "created")
		changed := r
		changed.Description, changed.Data = "told otherwise", "0.3"
		again := do(t, s.SavePerception, &changed)
		want := *first
		want.Status = "duplicate"
		equal(t, "the same origin", *again, want)
		equal(t, "description", do(t, s.Get, &robotmem.MemoryRequest{MemoryID: first.MemoryID}).Content, r.Description)

		for name, change := range map[string]func(*robotmem.SavePerceptionRequest){
			"another collection": func(r *robotmem.SavePerceptionRequest) { r.Collection = "field" },
			"another origin":     func(r *robotmem.SavePerceptionRequest) { r.Origin = "bag/camera/8" },
			"none":               func(r *robotmem.SavePerceptionRequest) { r.Origin = "" },
		} {
			other := r
			change(&other)
			if res := do(t, s.SavePerception, &other); res.Status != "created" || res.MemoryID == first.MemoryID {
				t.Errorf("%s: got %+v, want a new one", name, res)
			}
		}

		long := r
		long.Origin = strings.Repeat("x", 257)
		refused(t, s.SavePerception, &long, robotmem.Invalid, "origin")
	}},
	{"AnEmptyPayloadIsAPayload", func(t *testing.T, s robotmem.Service) {
		res := do(t, s.SavePerception,
			&robotmem.SavePerceptionRequest{Description: "a camera that gave nothing", DataBase64: []byte{}})
		if res.SHA256 != sum(nil) || res.Bytes != 0 || res.MediaType == "" {
			t.Errorf("got %+v", res)
		}
		if d, ok := try(t, s.Data, &robotmem.MemoryRequest{MemoryID: res.MemoryID}); ok &&
			(len(d.DataBase64) != 0 || d.SHA256 != res.SHA256) {
			t.Errorf("got %+v", d)
		}
	}},
}
