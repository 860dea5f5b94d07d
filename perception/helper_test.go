package perception_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"testing"

	"github.com/robotmem/robotmem-go/examples/robotfailures"
	"github.com/robotmem/robotmem-go/perception"
)

func failures(t testing.TB) []robotfailures.Failure {
	t.Helper()
	all, err := robotfailures.Load()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func csvItem(text string) perception.Item {
	return perception.Item{MediaType: "text/csv", Data: []byte(text)}
}

func jsonItem(text string) perception.Item {
	return perception.Item{MediaType: "application/json", Data: []byte(text)}
}

// npy writes a .npy file of version 1 around elements as they stand.
func npy(descr, shape string, elements []byte) []byte {
	header := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': %s, }\n", descr, shape)
	return append(append([]byte("\x93NUMPY\x01\x00"), byte(len(header)), byte(len(header)>>8)), append([]byte(header), elements...)...)
}

func elements(order binary.AppendByteOrder, values any) []byte {
	b, err := binary.Append(nil, order.(binary.ByteOrder), values)
	if err != nil {
		panic(err)
	}
	return b
}

// picture is half one colour, half another, divided by a vertical line.
func picture(width, height int, left, right color.Color) image.Image {
	img := image.NewNRGBA(image.Rect(0, 0, width, height))
	for y := range height {
		for x := range width {
			c := left
			if x >= width/2 {
				c = right
			}
			img.Set(x, y, c)
		}
	}
	return img
}

func pngOf(t testing.TB, img image.Image) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func jpegOf(t testing.TB, img image.Image) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := jpeg.Encode(&b, img, nil); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// wav is a RIFF file of 16-bit samples.
func wav(channels, rate, samples, claimed int) []byte {
	b := []byte("RIFF\x00\x00\x00\x00WAVEfmt \x10\x00\x00\x00\x01\x00")
	b = binary.LittleEndian.AppendUint16(b, uint16(channels))
	b = binary.LittleEndian.AppendUint32(b, uint32(rate))
	b = binary.LittleEndian.AppendUint32(b, uint32(2*channels*rate))
	b = binary.LittleEndian.AppendUint16(b, uint16(2*channels))
	b = append(b, "\x10\x00LIST\x03\x00\x00\x00abc\x00data"...)
	b = binary.LittleEndian.AppendUint32(b, uint32(claimed))
	return append(b, make([]byte, 2*channels*samples)...)
}

func webp(chunk string, body []byte) []byte {
	b := append([]byte("RIFF\x1e\x00\x00\x00WEBP"+chunk+"\x0a\x00\x00\x00"), body...)
	return append(b, make([]byte, 10)...)
}

const pcd = "# .PCD v0.7\nVERSION 0.7\nFIELDS x y z\nSIZE 4 4 4\nTYPE F F F\nCOUNT 1 1 1\nWIDTH 2\nHEIGHT 1\nVIEWPOINT 0 0 0 1 0 0 0\nPOINTS 2\nDATA ascii\n0 0 1\n1 0 1\n"
