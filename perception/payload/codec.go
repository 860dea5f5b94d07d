package payload

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
)

// Codec is how bytes are stored. Its text is one of
//
//	raw                             as they came
//	zstd                            one frame of Zstandard (RFC 8878)
//	delta.planar.zstd:le4x6         arrays of numbers, rearranged, then zstd
//	planar.shuffle.zstd:be2x3+44
//
// An array is rows of columns: le4x6 is six little-endian numbers of four bytes,
// be2x3 three big-endian ones of two. The first row begins after the bytes that
// follow the plus, fewer than a row; they and a part of a row at the end stay as
// they are. The steps are taken in the order of their names:
//
//	delta    each number less the one above it, as integers that wrap, and
//	         folded: 0, -1, 1, -2, 2 become 0, 1, 2, 3, 4
//	planar   the columns one after another
//	shuffle  the first bytes of all numbers, then the second bytes, and so on
//
// Floats are taken for the integers that their bits are, so every bit returns.
type Codec string

const (
	// Raw stores bytes as they came.
	Raw Codec = "raw"
	// Zstd compresses them.
	Zstd Codec = "zstd"
)

const (
	// MaxWhole is the most that [Codec.Encode] and [Codec.Decode] take, in bytes
	// of the payload: they hold it whole. A [Folder] has no such limit.
	MaxWhole = 64 << 20

	maxElement = 8    // bytes: float64 and int64
	maxColumns = 4096 // a row is 32 KiB at most, far below a block
	maxCodec   = 64   // bytes of a codec's text
)

// layout is what a codec says, taken apart.
type layout struct {
	compressed             bool
	delta, planar, shuffle bool
	array
}

// array is how numbers lie in the bytes; the zero value is none.
type array struct {
	bigEndian        bool
	element, columns int // bytes of a number; numbers in a row
	lead             int // bytes before the first row
}

func (a array) row() int { return a.element * a.columns }

var codecText = regexp.MustCompile(`^(delta\.)?(planar\.)?(shuffle\.)?zstd(?::(le|be)([1-8])x([1-9][0-9]{0,3})(?:\+([1-9][0-9]{0,4}))?)?$`)

// parse refuses what [layout.codec] would not write: a codec has one text.
func (c Codec) parse() (layout, error) {
	if c == Raw {
		return layout{}, nil
	}
	unknown := fmt.Errorf("the codec %.*q is not known; it is raw, zstd, or steps and an array such as delta.planar.zstd:le4x6", maxCodec, string(c))
	if len(c) > maxCodec {
		return layout{}, unknown
	}
	m := codecText.FindStringSubmatch(string(c))
	if m == nil {
		return layout{}, unknown
	}
	l := layout{compressed: true, delta: m[1] != "", planar: m[2] != "", shuffle: m[3] != ""}
	l.bigEndian = m[4] == "be"
	for i, into := range []*int{&l.element, &l.columns, &l.lead} {
		*into, _ = strconv.Atoi(m[5+i]) // digits, or nothing and 0
	}
	if l.codec() != c || l.columns > maxColumns || l.lead > 0 && l.lead >= l.row() {
		return layout{}, unknown
	}
	return l, nil
}

func (l layout) codec() Codec {
	if !l.compressed {
		return Raw
	}
	text := ""
	for _, step := range []struct {
		on   bool
		name string
	}{{l.delta, "delta."}, {l.planar, "planar."}, {l.shuffle, "shuffle."}} {
		if step.on {
			text += step.name
		}
	}
	if text == "" {
		return Zstd
	}
	order := "le"
	if l.bigEndian {
		order = "be"
	}
	text += fmt.Sprintf("zstd:%s%dx%d", order, l.element, l.columns)
	if l.lead > 0 {
		text += fmt.Sprintf("+%d", l.lead)
	}
	return Codec(text)
}

// Encode returns the bytes as they are to be stored, for a payload of at most
// [MaxWhole]. Raw returns raw itself. The same bytes give the same result.
func (c Codec) Encode(raw []byte) ([]byte, error) {
	l, err := c.parse()
	if err != nil {
		return nil, err
	}
	if !l.compressed {
		return raw, nil
	}
	if len(raw) > MaxWhole {
		return nil, fmt.Errorf("a payload of %d bytes is not encoded whole; the limit is %d", len(raw), MaxWhole)
	}
	w := borrow()
	defer w.release()
	return w.encode(l, nil, raw)
}

// Decode returns the payload of size bytes that was stored so. It refuses an
// unknown codec, another size, and bytes after the end; but for an unknown codec
// the error wraps [ErrDamaged]. It allocates twice the size at most, and nothing
// for a size that stored cannot hold. Raw returns stored itself.
func (c Codec) Decode(stored []byte, size int64) ([]byte, error) {
	l, err := c.parse()
	if err != nil {
		return nil, err
	}
	if !l.compressed {
		if int64(len(stored)) != size {
			return nil, fmt.Errorf("%w: it has %d bytes and should have %d", ErrDamaged, len(stored), size)
		}
		return stored, nil
	}
	if size < 0 || size > MaxWhole {
		return nil, fmt.Errorf("%w: %d bytes are not decoded whole; the limit is %d", ErrDamaged, size, MaxWhole)
	}
	if err := checkFrame(stored, size); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	w := borrow()
	defer w.release()
	raw := make([]byte, size)
	if err := w.decode(l, raw, stored); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return raw, nil
}

var (
	// ErrMissing says that the folder does not hold the payload.
	ErrMissing = errors.New("the payload is missing")
	// ErrDamaged says that the stored bytes are not those of the payload.
	ErrDamaged = errors.New("the payload is damaged")
	// ErrTooLarge says that there are more bytes than the limit.
	ErrTooLarge = errors.New("the payload is too large")
	// ErrShort says that fewer bytes came than were declared.
	ErrShort = errors.New("the payload is shorter than declared")
	// ErrLong says that more bytes came than were declared.
	ErrLong = errors.New("the payload is longer than declared")
	// ErrDisk wraps what the disk said, when it is at fault and not the payload.
	ErrDisk = errors.New("the payload's folder")
)
