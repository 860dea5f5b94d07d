package browsertest

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math"
	"strings"
)

// What sensors would have given, drawn by formulas.

// picturePNG is a table with a plate, which wanders with step.
func picturePNG(step int) []byte {
	img := image.NewRGBA(image.Rect(0, 0, 320, 240))
	cx, cy := 160+60*math.Cos(float64(step)), 120+40*math.Sin(float64(step))
	for y := range 240 {
		for x := range 320 {
			c := color.RGBA{R: uint8(120 + y/4), G: uint8(90 + x/8), B: 70, A: 255}
			if d := math.Hypot(float64(x)-cx, float64(y)-cy); d < 50 {
				c = color.RGBA{R: 230, G: 230, B: uint8(235 - d), A: 255}
			}
			if (x/20+y/20)%2 == 0 && y > 180 {
				c = color.RGBA{R: 40, G: 60, B: 90, A: 255}
			}
			img.SetRGBA(x, y, c)
		}
	}
	return encodePNG(img)
}

// depthPNG is 16-bit millimetres: a floor that recedes, a box, and a hole
// without a reading.
func depthPNG() []byte {
	img := image.NewGray16(image.Rect(0, 0, 320, 240))
	for y := range 240 {
		for x := range 320 {
			mm := 900 + 8*(240-y)
			if x > 100 && x < 180 && y > 80 && y < 170 {
				mm = 850
			}
			if math.Hypot(float64(x-250), float64(y-60)) < 20 {
				mm = 0
			}
			img.SetGray16(x, y, color.Gray16{Y: uint16(mm)})
		}
	}
	return encodePNG(img)
}

func encodePNG(img image.Image) []byte {
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		panic(err) // memory does not fail
	}
	return b.Bytes()
}

// wrenchCSV is two seconds at 100 Hz with a contact in the middle.
func wrenchCSV(step int) []byte {
	var b strings.Builder
	b.WriteString("t,Fx,Fy,Fz,Tx,Ty,Tz\n")
	for i := range 200 {
		t := float64(i) / 100
		hit := math.Exp(-40 * (t - 1) * (t - 1))
		s := math.Sin(float64(i+step) / 5)
		fmt.Fprintf(&b, "%.3f,%.3f,%.3f,%.3f,%.4f,%.4f,%.4f\n", t, 2*s, 1.5*math.Cos(float64(i)/7), -5-(40+float64(step%9))*hit+0.3*s, 0.1*s, 0.8*hit, 0.05*s)
	}
	return []byte(b.String())
}

// chirpWAV is two seconds of a tone that rises from 300 Hz to 3 kHz.
func chirpWAV(seconds int) []byte {
	const rate = 16_000
	samples := make([]int16, rate*seconds)
	phase := 0.0
	for i := range samples {
		phase += 2 * math.Pi * (300 + 2700*float64(i)/float64(len(samples))) / rate
		samples[i] = int16(12_000 * math.Sin(phase))
	}
	var b bytes.Buffer
	b.WriteString("RIFF")
	for _, v := range []any{uint32(36 + 2*len(samples)), []byte("WAVEfmt "), uint32(16), uint16(1), uint16(1), uint32(rate), uint32(2 * rate), uint16(2), uint16(16), []byte("data"), uint32(2 * len(samples)), samples} {
		if err := binary.Write(&b, binary.LittleEndian, v); err != nil {
			panic(err)
		}
	}
	return b.Bytes()
}

// cloudPCD is a shelf of three boards with colours, binary.
func cloudPCD() []byte {
	const n = 6000
	var b bytes.Buffer
	fmt.Fprintf(&b, "# .PCD v0.7\nVERSION 0.7\nFIELDS x y z rgb\nSIZE 4 4 4 4\nTYPE F F F U\nCOUNT 1 1 1 1\nWIDTH %d\nHEIGHT 1\nVIEWPOINT 0 0 0 1 0 0 0\nPOINTS %d\nDATA binary\n", n, n)
	for i := range n {
		board, j := i%3, i/3
		x, y := float32(j%50)*0.02, float32(j/50)*0.01
		rgb := uint32(0x40+board*0x50)<<16 | uint32(j%50*4)<<8 | 0x80
		for _, v := range []uint32{math.Float32bits(x), math.Float32bits(y), math.Float32bits(float32(board) * 0.3), rgb} {
			b.Write(binary.LittleEndian.AppendUint32(nil, v))
		}
	}
	return b.Bytes()
}

// cloudMug is the wall of a mug, as text.
func cloudMug() []byte {
	const n = 2000
	var b strings.Builder
	fmt.Fprintf(&b, "VERSION 0.7\nFIELDS x y z\nSIZE 4 4 4\nTYPE F F F\nPOINTS %d\nDATA ascii\n", n)
	for i := range n {
		a := float64(i) * 0.1
		fmt.Fprintf(&b, "%.4f %.4f %.4f\n", 0.04*math.Cos(a), 0.04*math.Sin(a), 0.1*float64(i)/n)
	}
	return []byte(b.String())
}

// trajectoryTUM is a spiral of one pose a second.
func trajectoryTUM(from float64, poses int) []byte {
	var b strings.Builder
	for i := range poses {
		a := float64(i) / 10
		fmt.Fprintf(&b, "%.3f %.4f %.4f %.4f 0 0 %.6f %.6f\n", from+float64(i), (1+a/3)*math.Cos(a), (1+a/3)*math.Sin(a), 0.02*a, math.Sin(a/2), math.Cos(a/2))
	}
	return []byte(b.String())
}

// scanJSON is a corridor seen by a laser, as a sensor_msgs/LaserScan.
func scanJSON() []byte {
	const rays = 360
	ranges := make([]float64, rays)
	for i := range ranges {
		a := -math.Pi + 2*math.Pi*float64(i)/rays
		ranges[i] = math.Round(1000*math.Min(1.2/math.Max(math.Abs(math.Sin(a)), 0.01), 7)) / 1000
	}
	out, err := json.Marshal(map[string]any{"angle_min": -math.Pi, "angle_increment": 2 * math.Pi / rays, "range_min": 0.1, "range_max": 10, "ranges": ranges})
	if err != nil {
		panic(err)
	}
	return out
}

// blob is 5 kB of no known kind.
func blob() []byte {
	out := make([]byte, 5000)
	for i := range out {
		out[i] = byte(i*i>>3) ^ byte(i)
	}
	copy(out, "MCU1\x01\x02")
	return out
}
