package occupancy

import (
	"bufio"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io"
	"io/fs"
	"math"
	"path/filepath"
	"strings"

	"github.com/goccy/go-yaml"

	"github.com/robotmem/robotmem-go/perception/importers"
)

// description is a map.yaml of map_server.
type description struct {
	Image      string    `yaml:"image"`
	Mode       string    `yaml:"mode"`
	Resolution *float64  `yaml:"resolution"`
	Origin     []float64 `yaml:"origin"`
	Negate     yamlBool  `yaml:"negate"`
	Occupied   *float64  `yaml:"occupied_thresh"`
	Free       *float64  `yaml:"free_thresh"`
}

// yamlBool is true, false, 1 or 0.
type yamlBool bool

func (b *yamlBool) UnmarshalYAML(text []byte) error {
	switch s := strings.TrimSpace(string(text)); s {
	case "1", "true", "True":
		*b = true
	case "0", "false", "False":
		*b = false
	default:
		return fmt.Errorf("negate is %.20q; it must be 0 or 1", s)
	}

	return nil
}

const maxYAML = 64 << 10 // bytes

// Recognizes reports whether the text is that of a map.yaml.
func Recognizes(text []byte) bool {
	var d description
	return len(text) <= maxYAML && yaml.Unmarshal(text, &d) == nil && d.Image != "" && d.Resolution != nil
}

// ReadFile reads a map.yaml of map_server and its picture, PGM or PNG, in the frame "map". The picture stands beside the
// map.yaml unless its path is absolute.
func ReadFile(path, mapID string) (*Grid, error) {
	f, _, err := importers.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxYAML+1))
	if err != nil {
		return nil, err
	}

	var d description
	if err := yaml.Unmarshal(text, &d); err != nil {
		return nil, fmt.Errorf("%s: %s", filepath.Base(path), yaml.FormatError(err, false, false))
	}

	g := &Grid{Frame: "map", MapID: mapID}
	if err := d.place(g); err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Base(path), err)
	}

	at := d.Image
	if !filepath.IsAbs(at) {
		at = filepath.Join(filepath.Dir(path), at)
	}
	if err := d.readImage(at, g); err != nil {
		return nil, fmt.Errorf("%s: the image %s: %w", filepath.Base(path), d.Image, err)
	}

	return g, g.Check()
}

// place reads where the map lies, and how its picture is read.
func (d *description) place(g *Grid) error {
	switch {
	case d.Image == "":
		return errors.New("names no image")
	case d.Resolution == nil:
		return errors.New("names no resolution")
	case len(d.Origin) < 2 || len(d.Origin) > 3:
		return fmt.Errorf("the origin has %d numbers; it must be [x, y, yaw]", len(d.Origin))
	}

	g.Resolution, g.X, g.Y = *d.Resolution, d.Origin[0], d.Origin[1]
	if len(d.Origin) == 3 {
		g.Yaw = d.Origin[2]
	}
	if d.Mode == "" {
		d.Mode = "trinary"
	}
	if d.Mode != "trinary" && d.Mode != "scale" && d.Mode != "raw" {
		return fmt.Errorf("the mode is %.20q; it must be trinary, scale or raw", d.Mode)
	}

	occupied, free := 0.65, 0.196 // those of map_server, for which a gray of 205 is unknown
	if d.Occupied == nil {
		d.Occupied = &occupied
	}
	if d.Free == nil {
		d.Free = &free
	}
	if !(*d.Free >= 0 && *d.Free < *d.Occupied && *d.Occupied <= 1) {
		return fmt.Errorf("free_thresh is %v and occupied_thresh %v; they must be 0 to 1, the first below the second", *d.Free, *d.Occupied)
	}

	return nil
}

// value is the value of a cell whose pixel has a brightness of 0 to 1.
func (d *description) value(bright float64, transparent bool) int8 {
	if d.Mode == "raw" {
		if v := math.Round(bright * 255); v <= Full {
			return int8(v)
		}
		return Unknown
	}

	dark := 1 - bright
	if d.Negate {
		dark = bright
	}

	switch {
	case transparent:
		return Unknown
	case dark > *d.Occupied:
		return Full
	case dark < *d.Free:
		return 0
	case d.Mode == "scale":
		return int8(math.RoundToEven((dark - *d.Free) / (*d.Occupied - *d.Free) * Full))
	}

	return Unknown
}

// readImage reads the picture. Its top row is the last of the cells.
func (d *description) readImage(path string, g *Grid) error {
	f, _, err := importers.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return errors.New("is not there; put it beside the map.yaml")
	}
	if errors.Is(err, importers.ErrNotRegular) {
		return importers.ErrNotRegular
	}
	if err != nil {
		return err
	}
	defer f.Close()

	in := bufio.NewReader(f)
	head, err := in.Peek(2)
	if err != nil {
		return errors.New("is empty")
	}
	if head[0] == 'P' && (head[1] == '5' || head[1] == '2') {
		return d.readPGM(in, g)
	}

	c, err := png.DecodeConfig(in)
	if err != nil {
		return fmt.Errorf("is neither a PGM nor a PNG that can be read: %w", err)
	}
	// A picture of a few bytes may say that it has a billion pixels.
	if err := CheckSize(c.Width, c.Height); err != nil {
		return err
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return err
	}
	pic, err := png.Decode(bufio.NewReader(f))
	if err != nil {
		return err
	}
	d.fill(g, pic)

	return nil
}

func (d *description) fill(g *Grid, pic image.Image) {
	size := pic.Bounds()
	g.Width, g.Height = size.Dx(), size.Dy()

	g.Cells = make([]int8, g.Width*g.Height)
	for y := range g.Height {
		row := g.Cells[(g.Height-1-y)*g.Width:]
		for x := range g.Width {
			c := color.NRGBA64Model.Convert(pic.At(size.Min.X+x, size.Min.Y+y)).(color.NRGBA64)
			row[x] = d.value((float64(c.R)+float64(c.G)+float64(c.B))/(3*65535), c.A < 65535 && d.Mode == "scale")
		}
	}
}

// readPGM reads a gray picture of Netpbm, as bytes (P5) or as text (P2).
func (d *description) readPGM(in *bufio.Reader, g *Grid) error {
	magic := make([]byte, 2)
	_, _ = io.ReadFull(in, magic) // Peek has seen them

	var head [3]int
	for i := range head {
		n, err := number(in)
		if err != nil {
			return fmt.Errorf("its head cannot be read: %w", err)
		}
		head[i] = n
	}

	most := head[2]
	if most < 1 || most > 65535 {
		return fmt.Errorf("its largest value is %d; it must be 1 to 65535", most)
	}
	if err := CheckSize(head[0], head[1]); err != nil {
		return err
	}
	g.Width, g.Height = head[0], head[1]
	g.Cells = make([]int8, g.Width*g.Height)

	pixel := func() (int, error) { return number(in) }
	if magic[1] == '5' {
		pixel = func() (int, error) {
			b, err := in.ReadByte()
			if err != nil || most < 256 {
				return int(b), err
			}
			low, err := in.ReadByte()
			return int(b)<<8 | int(low), err
		}
	}

	for y := range g.Height {
		row := g.Cells[(g.Height-1-y)*g.Width:]
		for x := range g.Width {
			v, err := pixel()
			if err != nil {
				return fmt.Errorf("ends after %d of %d x %d pixels", y*g.Width+x, g.Width, g.Height)
			}
			row[x] = d.value(float64(min(v, most))/float64(most), false)
		}
	}

	return nil
}

// number reads a number of the head and the byte after it. Comments go to the end of their line.
func number(in *bufio.Reader) (int, error) {
	n, digits := 0, 0

	for {
		b, err := in.ReadByte()
		switch {
		case err != nil && digits > 0 && errors.Is(err, io.EOF):
			return n, nil
		case err != nil:
			return 0, io.ErrUnexpectedEOF
		case b == '#' && digits == 0:
			if _, err := in.ReadString('\n'); err != nil {
				return 0, io.ErrUnexpectedEOF
			}
		case b >= '0' && b <= '9':
			if n, digits = n*10+int(b-'0'), digits+1; digits > 9 {
				return 0, errors.New("a number is too long")
			}
		case b == ' ' || b == '\t' || b == '\r' || b == '\n':
			if digits > 0 {
				return n, nil
			}
		default:
			return 0, fmt.Errorf("byte %q in a number", b)
		}
	}
}
