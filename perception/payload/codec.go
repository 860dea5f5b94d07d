package payload

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/robotmem/robotmem-go/perception/media"
)

// Codec is how bytes are stored. Its text is one of
//
//	raw                             unchanged
//	zstd                            one frame of Zstandard (RFC 8878)
//	delta.planar.zstd:le4x6         arrays of numbers, rearranged and then compressed
//	planar.shuffle.zstd:be2x3+44
//
// An array has rows and columns: le4x6 is six little-endian numbers of four bytes, be2x3
// three big-endian ones of two. The number after the plus, less than a row, is the bytes
// before the first row. They and a part of a row at the end stay unchanged. The steps are
// taken in the order of their names:
//
//	delta    each number minus the one above it, as integers that wrap, in zigzag
//	         encoding: 0, -1, 1, -2, 2 become 0, 1, 2, 3, 4
//	planar   column after column
//	shuffle  the first bytes of all numbers, then the second bytes, and so on
//
// The bits of floats are taken as integers, so that the codec is lossless.
type Codec string

const (
	// Raw stores bytes unchanged.
	Raw Codec = "raw"
	// Zstd compresses them.
	Zstd Codec = "zstd"
)

const (
	// MaxWhole is the most bytes of a payload that [Codec.Encode] and [Codec.Decode]
	// take, which hold it in memory. A [Folder] has no such limit.
	MaxWhole = 64 << 20

	maxElement = 8    // bytes: float64 and int64
	maxColumns = 4096 // a row takes 32 KiB at most, far less than a block
	maxCodec   = 64   // bytes of a codec's text
)

type layout struct {
	codec                  Codec
	delta, planar, shuffle bool
	array                  // the zero value means that there is none
}

type array struct {
	element   int // bytes of a number, 1 to 8
	columns   int // numbers in a row, 1 to 4096
	offset    int // bytes before the first row, fewer than a row has
	bigEndian bool
}

// row returns the bytes of a row.
func (a array) row() int { return a.element * a.columns }

var codecText = regexp.MustCompile(`^(?:zstd|((?:delta\.)?(?:planar\.)?(?:shuffle\.)?)zstd:(le|be)([1-8])x([1-9][0-9]{0,3})(?:\+([1-9][0-9]{0,4}))?)$`)

// parse accepts one text of each codec.
func (c Codec) parse() (layout, error) {
	if c == Raw {
		return layout{codec: Raw}, nil
	}

	unknown := func() (layout, error) {
		return layout{}, fmt.Errorf("the codec %.*q is unknown; known are raw, zstd, and steps with an array such as delta.planar.zstd:le4x6", maxCodec, string(c))
	}
	m := codecText.FindStringSubmatch(string(c))
	if m == nil || m[1] == "" && c != Zstd {
		return unknown()
	}

	steps := m[1]
	l := layout{
		codec: c, delta: strings.Contains(steps, "delta"), planar: strings.Contains(steps, "planar"),
		shuffle: strings.Contains(steps, "shuffle"),
	}

	l.bigEndian = m[2] == "be"
	for i, into := range []*int{&l.element, &l.columns, &l.offset} {
		// 0 if it is missing.
		*into, _ = strconv.Atoi(m[3+i])
	}

	if l.columns > maxColumns || l.offset > 0 && l.offset >= l.row() {
		return unknown()
	}

	return l, nil
}

// Encode returns the stored form of a payload of at most [MaxWhole] bytes. Raw returns its
// argument. The same bytes give the same result.
func (c Codec) Encode(raw []byte) ([]byte, error) {
	l, err := c.parse()
	if err != nil {
		return nil, err
	}
	if c == Raw {
		return raw, nil
	}
	if len(raw) > MaxWhole {
		return nil, fmt.Errorf("a payload of %d bytes is too large to encode in memory; the limit is %d", len(raw),
			MaxWhole)
	}
	w := borrow()
	defer w.release()

	return w.encode(l, nil, raw), nil
}

// Decode returns the payload of size bytes from its stored form. Except for an unknown codec the
// error wraps [ErrDamaged], also if the size differs or if the bytes that follow are not a frame. It
// allocates at most twice the size, and nothing for a size that stored cannot hold. Raw returns its
// argument.
func (c Codec) Decode(stored []byte, size int64) ([]byte, error) {
	l, err := c.parse()
	if err != nil {
		return nil, err
	}

	if c == Raw {
		if int64(len(stored)) != size {
			return nil, fmt.Errorf("%w: it has %d bytes and should have %d", ErrDamaged, len(stored), size)
		}
		return stored, nil
	}

	if size < 0 || size > MaxWhole {
		return nil, fmt.Errorf("%w: %d bytes are too many to decode in memory; the limit is %d", ErrDamaged, size,
			MaxWhole)
	}
	// Before raw is allocated: the size comes from a database that may be damaged.
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

const (
	// sampleSize is the least that is read at once, and kept of the beginning of a payload.
	sampleSize = 256 << 10
	// trySize is the number of first bytes that codecs are tried on. The length of a row is sought in the last
	// rowSize of them.
	trySize = 32 << 10
	rowSize = 4 << 10
	// longestRow is the longest row that is sought, in bytes: 32 numbers of eight bytes.
	longestRow = 256
)

// Choose returns the codec that stores the beginning of the payload in the fewest bytes: zstd, or
// one of an array whose rows are as long as the distance at which bytes repeat most often. MCAP
// gets zstd. It returns [Raw] unless a tenth is saved. It looks at the first 32 KiB of the sample.
func Choose(sample []byte) Codec {
	sample = sample[:min(len(sample), trySize)]
	w := borrow()
	defer w.release()
	// A smaller gain is not worth the time of decoding at each read.
	best, least := Raw, len(sample)-len(sample)/10
	codecs := []Codec{Zstd}
	// Messages are read often, which zstd alone is fastest for.
	if !bytes.HasPrefix(sample, []byte(media.MCAPMagic)) {
		codecs = append(codecs, arraysOf(rowOf(sample))...)
	}

	var stored []byte

	for _, c := range codecs {
		l, _ := c.parse() // it is known
		if stored = w.encode(l, stored[:0], sample); len(stored) < least {
			best, least = c, len(stored)
		}
	}

	return best
}

// rowOf returns the distance at which bytes repeat most often: the bytes of a reading, of a point or
// of a pixel. It is 0 if they hardly ever do, as in compressed data.
func rowOf(sample []byte) int {
	const (
		// rarely is five times as often as random bytes repeat.
		rarely = 0.02
		// A longer row repeats clearly more often, since two rows repeat about as often as one.
		clearly = 1.05
	)
	// Look at the end of the sample: the beginning may be the header of a file.
	sample = sample[max(0, len(sample)-rowSize):]
	row, most := 0, rarely

	for length := 1; length <= min(longestRow, len(sample)/2); length++ {
		same := 0

		for i, b := range sample[length:] {
			if b == sample[i] {
				same++
			}
		}
		if often := float64(same) / float64(len(sample)-length); often > most*clearly {
			row, most = length, often
		}
	}

	return row
}

// arraysOf returns codecs of arrays whose rows have that many bytes.
func arraysOf(row int) []Codec {
	var all []Codec

	for _, element := range []int{4, 2, 1} {
		if row == 0 || row%element != 0 {
			continue
		}

		for _, steps := range []string{"delta.planar", "planar.shuffle", "delta.planar.shuffle"} {
			all = append(all, Codec(fmt.Sprintf("%s.zstd:le%dx%d", steps, element, row/element)))
		}
	}

	return all
}

var (
	// ErrMissing says that the folder does not hold the payload.
	ErrMissing = errors.New("the payload is missing")
	// ErrDamaged says that the stored bytes are not those of the payload.
	ErrDamaged = errors.New("the payload is damaged")
	// ErrTooLarge says that there are more bytes than the limit.
	ErrTooLarge = errors.New("the payload is too large")
	// ErrSize says that there are fewer or more bytes than declared.
	ErrSize = errors.New("the payload has another size than declared")
	// ErrDisk wraps an error of the file system.
	ErrDisk = errors.New("the payload's folder")
)
