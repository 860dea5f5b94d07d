package main

import (
	"bytes"
	"image"
	"image/color"
	"image/jpeg"
	"math"
	"time"
)

// contact simulates a peg that is repeatedly pressed against a plate and lifted: a
// spring with friction, measured by a force sensor and a camera.
type contact struct {
	depth float64 // m into the plate; below 0 the peg is in the air
	slide float64 // m/s along the plate
}

const (
	stroke    = 0.004 // m up and down around the surface
	frequency = 0.5   // Hz
	stiffness = 15e3  // N/m
	friction  = 0.2
	lever     = 0.12 // m from the sensor to the tip
	noise     = 0.3  // N
)

func contactAt(t time.Duration) contact {
	phase := 2 * math.Pi * frequency * t.Seconds()
	return contact{depth: -stroke * math.Cos(phase), slide: 0.01 * math.Sin(3*phase)}
}

// wrench returns the reading in the frame of the sensor: forces in N, and torques in
// Nm about its origin. The tip of the peg is lever below the origin.
func (c contact) wrench(cycle uint64) [6]float64 {
	fz := -stiffness * max(c.depth, 0)
	fx := math.Copysign(friction*fz, c.slide)

	w := [6]float64{fx, 0, fz, 0, -lever * fx, 0}
	for axis := range 3 {
		w[axis] += noise * math.Sin(float64(cycle)*(1.7+0.61*float64(axis)))
	}

	return w
}

// picture draws the peg above the plate. The plate glows at the point of contact.
func (c contact) picture() []byte {
	const width, height, surface = 96, 72, 48
	img := image.NewGray(image.Rect(0, 0, width, height))
	tip := surface + int(c.depth*3000)

	for y := range height {
		for x := range width {
			shade := uint8(40)

			switch {
			case x > width/2-8 && x < width/2+8 && y < min(tip, surface):
				shade = 200
			case y >= surface && c.depth > 0 && math.Hypot(float64(x-width/2), float64(y-surface)) < 5e3*c.depth:
				shade = 255
			case y >= surface:
				shade = 110
			}
			img.SetGray(x, y, color.Gray{Y: shade})
		}
	}

	var b bytes.Buffer
	if err := jpeg.Encode(&b, img, nil); err != nil {
		panic(err) // a buffer takes everything
	}

	return b.Bytes()
}
