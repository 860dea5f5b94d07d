package recording_test

import (
	"encoding/binary"
	"io"
	"math"
	"math/rand/v2"

	"github.com/foxglove/mcap/go/mcap"

	"github.com/robotmem/robotmem-go/perception/importers/message"
	"github.com/robotmem/robotmem-go/perception/segment"
)

// syntheticTopics are the topics of a generated recording, with their messages per second.
var syntheticTopics = []struct {
	topic, schema string
	rate          uint64
}{
	{"/tf", "tf2_msgs/msg/TFMessage", 50},
	{"/odom", "nav_msgs/msg/Odometry", 50},
	{"/wrench", "geometry_msgs/msg/WrenchStamped", 1000},
	{"/camera/compressed", "sensor_msgs/msg/CompressedImage", 30},
}

const (
	startTime  = 1_700_000_000_000_000_000 // ns
	imageBytes = 100 << 10
	tickTime   = 1_000_000 // ns between messages of the fastest topic
	chunkSize  = 4 << 20
)

// writeSynthetic writes a recording of about that many bytes: a camera with 30 images of 100 KiB per
// second, a wrench at 1 kHz, odometry and transforms at 50 Hz. The images are noise after
// the first bytes of a JPEG. The same seed gives the same bytes.
func writeSynthetic(w io.Writer, bytes int64, seed uint64) error {
	out, err := mcap.NewWriter(w, &mcap.WriterOptions{Chunked: true, ChunkSize: chunkSize, IncludeCRC: true, OverrideLibrary: true})
	if err != nil {
		return err
	}
	if err := out.WriteHeader(&mcap.Header{Profile: "ros2", Library: segment.Library}); err != nil {
		return err
	}
	for i, t := range syntheticTopics {
		text, _ := message.Definition(t.schema)
		c := &segment.Channel{Topic: t.topic, SchemaName: t.schema, SchemaEncoding: "ros2msg", SchemaData: []byte(text), MessageEncoding: "cdr"}
		if err := c.Write(out, uint16(i+1), uint16(i+1)); err != nil {
			return err
		}
	}
	var key [32]byte
	binary.LittleEndian.PutUint64(key[:], seed)
	noise := rand.NewChaCha8(key)
	var sequence [4]uint32
	for tick := uint64(0); int64(out.Offset()) < bytes; tick++ {
		now := startTime + tick*tickTime
		for i, t := range syntheticTopics {
			// A tick has a message of each topic whose count increases.
			if tick != 0 && tick*t.rate/1000 == (tick-1)*t.rate/1000 {
				continue
			}
			m := &mcap.Message{ChannelID: uint16(i + 1), Sequence: sequence[i], LogTime: now, PublishTime: now, Data: syntheticMessage(i, now, noise)}
			sequence[i]++
			if err := out.WriteMessage(m); err != nil {
				return err
			}
		}
	}
	return out.Close()
}

// syntheticMessage returns a message of the i-th topic: a robot on a circle of 2 m, an oscillating
// force, noise.
func syntheticMessage(i int, now uint64, noise *rand.ChaCha8) []byte {
	t := float64(now-startTime) * 1e-9
	angle := math.Mod(t/10, 2*math.Pi)
	x, y := 2*math.Cos(angle), 2*math.Sin(angle)
	turn := []float64{0, 0, math.Sin(angle / 2), math.Cos(angle / 2)}
	var w cdrWriter
	switch i {
	case 0:
		w.uint32(1)
		w.header(now, "odom")
		w.text("base_link")
		w.floats(append([]float64{x, y, 0}, turn...)...)
	case 1:
		w.header(now, "odom")
		w.text("base_link")
		w.floats(append([]float64{x, y, 0}, turn...)...)
		w.floats(make([]float64, 36)...)
		w.floats(0.2, 0, 0, 0, 0, 0.1)
		w.floats(make([]float64, 36)...)
	case 2:
		w.header(now, "base_link")
		w.floats(math.Sin(7*t), math.Cos(5*t), -20+10*math.Sin(t), 0.1, 0.2, float64(noise.Uint64()%1000)/1000)
	case 3:
		w.header(now, "base_link")
		w.text("jpeg")
		w.uint32(imageBytes)
		at := len(w.b)
		w.b = append(w.b, make([]byte, imageBytes)...)
		_, _ = noise.Read(w.b[at:]) // never fails
		copy(w.b[at:], "\xff\xd8\xff\xe0")
	}
	return append([]byte{0, 1, 0, 0}, w.b...)
}

// cdrWriter writes little-endian CDR without the four bytes at its head.
type cdrWriter struct{ b []byte }

func (w *cdrWriter) align(n int) {
	for len(w.b)%n != 0 {
		w.b = append(w.b, 0)
	}
}

func (w *cdrWriter) uint32(v uint32) {
	w.align(4)
	w.b = binary.LittleEndian.AppendUint32(w.b, v)
}

func (w *cdrWriter) text(s string) {
	w.uint32(uint32(len(s) + 1))
	w.b = append(append(w.b, s...), 0)
}

func (w *cdrWriter) floats(values ...float64) {
	w.align(8)
	for _, v := range values {
		w.b = binary.LittleEndian.AppendUint64(w.b, math.Float64bits(v))
	}
}

func (w *cdrWriter) header(now uint64, frame string) {
	w.uint32(uint32(now / 1e9))
	w.uint32(uint32(now % 1e9))
	w.text(frame)
}
