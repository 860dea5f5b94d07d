package recording_test

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"image"
	"image/color"
	"image/png"
	"math"
	"strings"
	"testing"

	"github.com/robotmem/robotmem-go/perception"
	"github.com/robotmem/robotmem-go/perception/importers/message"
	"github.com/robotmem/robotmem-go/perception/importers/recording"
	"github.com/robotmem/robotmem-go/perception/segment"
)

// A depth image that compressed_depth_image_transport packed is a picture; its head goes to the envelope.
func TestCompressedDepth(t *testing.T) {
	depth := image.NewGray16(image.Rect(0, 0, 16, 8))
	for i := range 16 * 8 {
		depth.SetGray16(i%16, i/16, color.Gray16{Y: uint16(1000 + i)})
	}
	var picture bytes.Buffer
	if err := png.Encode(&picture, depth); err != nil {
		t.Fatal(err)
	}
	for format, want := range map[string]map[string]any{
		"16UC1; compressedDepth png": {"kind": "depth", "units": "mm", "encoding": "16UC1"},
		"32FC1; compressedDepth png": {"kind": nil, "encoding": "32FC1"},
		"png":                        {"kind": nil, "encoding": nil},
		"16UC1; compressedDepth rvl": nil,
	} {
		t.Run(format, func(t *testing.T) {
			body := picture.Bytes()
			if format != "png" {
				head := binary.LittleEndian.AppendUint32(nil, 1)
				head = binary.LittleEndian.AppendUint32(head, math.Float32bits(100))
				head = binary.LittleEndian.AppendUint32(head, math.Float32bits(-2))
				body = append(head, body...)
				if strings.HasSuffix(format, "rvl") {
					body = append(head[:12:12], 0x10, 0, 0, 0, 8, 0, 0, 0, 0xff, 0xfe)
				}
			}
			var w cdrWriter
			w.header(startTime, "camera")
			w.text(format)
			w.uint32(uint32(len(body)))
			data := append(append([]byte{0, 1, 0, 0}, w.b...), body...)
			text, _ := message.Definition("sensor_msgs/msg/CompressedImage")
			c := &segment.Channel{Topic: "/depth", SchemaName: "sensor_msgs/msg/CompressedImage", SchemaEncoding: "ros2msg", SchemaData: []byte(text), MessageEncoding: "cdr"}
			s := newStore()
			report := importAll(t, open(t, write(t, "x.mcap", mcapOf(t, c, []segment.Message{{LogTime: startTime, PublishTime: startTime, Data: data}}))), recording.Options{}, s)
			p := s.of("/depth")[0]
			if format == "16UC1; compressedDepth rvl" {
				for note := range topics(report)["/depth"].Notes {
					if !strings.Contains(note, "compressedDepth rvl") {
						t.Errorf("got note %q", note)
					}
				}
				if len(topics(report)["/depth"].Notes) != 1 || len(p.Data) != len(body) {
					t.Errorf("got %v, %d bytes of %d", topics(report)["/depth"].Notes, len(p.Data), len(body))
				}
				return
			}
			if p.MediaType != "image/png" || !bytes.Equal(p.Data, picture.Bytes()) {
				t.Fatalf("got %s of %d bytes", p.MediaType, len(p.Data))
			}
			for key, value := range want {
				if p.Metadata[key] != value {
					t.Errorf("%s is %v, want %v", key, p.Metadata[key], value)
				}
			}
			if inverse, ok := p.Metadata["inverse_depth"].(map[string]any); ok != (format[0] == '3') || ok && (inverse["a"] != 100.0 || inverse["b"] != -2.0) {
				t.Errorf("got %v", p.Metadata["inverse_depth"])
			}
			if kind, _, ok := perception.Features(perception.Item{MediaType: p.MediaType, Data: p.Data, Metadata: p.Metadata}); !ok || kind != "depth/v2" {
				t.Errorf("got features %q", kind)
			}

			envelope := p.Metadata["envelope"].(map[string]any)
			prefix, err1 := base64.StdEncoding.DecodeString(envelope["prefix"].(string))
			suffix, err2 := base64.StdEncoding.DecodeString(envelope["suffix"].(string))
			if err1 != nil || err2 != nil || !bytes.Equal(append(append(prefix, p.Data...), suffix...), data) {
				t.Error("prefix, payload and suffix are not the message")
			}
		})
	}
}
