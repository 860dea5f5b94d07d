package recording

import (
	"bytes"
	"image"
	_ "image/jpeg" // for keyframes
	_ "image/png"  // likewise
	"math"

	"github.com/robotmem/robotmem-go/perception/message"
)

// view is what of a message is compared with the last that was kept.
type view struct {
	levels []float64  // grey of a thumbnail, 0 to 1, or ranges in metres
	pose   *transform // of a pose
}

const (
	thumbnail = 16 // cells a side
	// maxPixels bounds an image that is decoded to see whether it changed; a
	// larger one is kept. So is one that unfolds to more than decodeFloor bytes
	// and decodeFactor times its own, at pixelBytes each: a blank picture of many
	// megapixels comes in a few kilobytes.
	maxPixels    = 50e6
	pixelBytes   = 8
	decodeFloor  = 64 << 20
	decodeFactor = 64
)

// tooSoon says that the message comes before the rate allows the next.
func (t *topic) tooSoon(logTime uint64) bool {
	return t.rate > 0 && t.kept && logTime >= t.lastKept && float64(logTime-t.lastKept)*1e-9 < (1-rateSlack)/t.rate
}

// rateSlack lets through a message that comes a little early, as those of a
// camera do that runs at just the rate.
const rateSlack = 0.01

// unchanged compares a message with the last one that was kept and takes its
// place when it differs enough.
func (t *topic) unchanged(m *Message, v *message.Value) bool {
	if t.change <= 0 || v == nil {
		return false
	}
	now := viewOf(m, v)
	if now == nil {
		return false
	}
	if t.previous != nil && !t.previous.differs(now, t.change) {
		return true
	}
	t.previous = now
	return false
}

func viewOf(m *Message, v *message.Value) *view {
	switch typeName(m.SchemaName) {
	case "sensor_msgs/CompressedImage":
		return greyOf(v.At("data").Data)
	case "sensor_msgs/Image":
		return rawGrey(v)
	case "sensor_msgs/LaserScan":
		return &view{levels: v.At("ranges").Numbers}
	case "nav_msgs/Odometry", "geometry_msgs/PoseWithCovarianceStamped":
		return poseView(v.At("pose", "pose"))
	case "geometry_msgs/PoseStamped":
		return poseView(v.At("pose"))
	case "geometry_msgs/Pose":
		return poseView(v)
	}
	return nil
}

func poseView(v *message.Value) *view {
	t := transformOf(v.At("position"), v.At("orientation"))
	return &view{pose: &t}
}

func (a *view) differs(b *view, least float64) bool {
	if a.pose != nil && b.pose != nil {
		d := 0.0
		for i := range a.pose.position {
			d += (a.pose.position[i] - b.pose.position[i]) * (a.pose.position[i] - b.pose.position[i])
		}
		return math.Sqrt(d) >= least || angle(a.pose.orientation, b.pose.orientation) >= least
	}
	if len(a.levels) != len(b.levels) {
		return true
	}
	sum, n := 0.0, 0
	for i := range a.levels {
		// A beam that meets nothing is infinitely long.
		if d := math.Abs(a.levels[i] - b.levels[i]); !math.IsNaN(d) && !math.IsInf(d, 0) {
			sum += d
			n++
		}
	}
	return n == 0 || sum/float64(n) >= least
}

// greyOf is the thumbnail of a JPEG or PNG, nil for what is neither.
func greyOf(data []byte) *view {
	config, _, err := image.DecodeConfig(bytes.NewReader(data))
	if err != nil || config.Width < 1 || config.Height < 1 {
		return nil
	}
	pixels := float64(config.Width) * float64(config.Height)
	if pixels > maxPixels || pixels*pixelBytes > max(decodeFloor, decodeFactor*float64(len(data))) {
		return nil
	}
	img, _, err := image.Decode(bytes.NewReader(data))
	if err != nil {
		return nil
	}
	b := img.Bounds()
	return cells(b.Dx(), b.Dy(), func(x, y int) float64 {
		r, g, bl, _ := img.At(b.Min.X+x, b.Min.Y+y).RGBA()
		return (float64(r) + float64(g) + float64(bl)) / (3 * 0xffff)
	})
}

// rawGrey is the thumbnail of 8- and 16-bit pixels, nil for other encodings.
func rawGrey(v *message.Value) *view {
	width, height, step := int(v.At("width").Int), int(v.At("height").Int), int(v.At("step").Int)
	data := v.At("data").Data
	channels, deep := 0, 1
	switch v.At("encoding").Text {
	case "mono8", "8UC1":
		channels = 1
	case "rgb8", "bgr8", "8UC3":
		channels = 3
	case "rgba8", "bgra8", "8UC4":
		channels = 4
	case "mono16", "16UC1":
		channels, deep = 1, 2
	}
	if channels == 0 || width < 1 || height < 1 || step/(channels*deep) < width || len(data)/step < height {
		return nil
	}
	high := 0 // the byte that weighs more
	if deep == 2 && v.At("is_bigendian").Int == 0 {
		high = 1
	}
	return cells(width, height, func(x, y int) float64 {
		at := y*step + x*channels*deep
		sum := 0.0
		for c := range min(channels, 3) {
			sum += float64(data[at+c*deep+high])
		}
		return sum / float64(255*min(channels, 3))
	})
}

// cells averages up to 16 points in each of the thumbnail's cells.
func cells(width, height int, at func(x, y int) float64) *view {
	const points = 4
	v := &view{levels: make([]float64, 0, thumbnail*thumbnail)}
	for j := range thumbnail {
		for i := range thumbnail {
			sum := 0.0
			for k := range points * points {
				x := (2*(i*points+k%points) + 1) * width / (2 * thumbnail * points)
				y := (2*(j*points+k/points) + 1) * height / (2 * thumbnail * points)
				sum += at(x, y)
			}
			v.levels = append(v.levels, sum/(points*points))
		}
	}
	return v
}
