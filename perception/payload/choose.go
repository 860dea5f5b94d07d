package payload

import "bytes"

// sampleSize is how much of a payload the codec is chosen by, in bytes.
const sampleSize = 256 << 10

// Hint says which numbers a payload is made of. The zero value is unknown.
type Hint struct {
	Element   int // bytes of a number, 1 to 8
	Columns   int // numbers in a row, 1 to 4096
	Offset    int // bytes before the first row
	BigEndian bool
}

// array holds the hint if it is within the ranges.
func (h Hint) array() (array, bool) {
	if h.Element < 1 || h.Element > maxElement || h.Columns < 1 || h.Columns > maxColumns || h.Offset < 0 {
		return array{}, false
	}
	a := array{bigEndian: h.BigEndian && h.Element > 1, element: h.Element, columns: h.Columns}
	a.lead = h.Offset % a.row()
	return a, true
}

// Choose returns the codec that stores the beginning of the payload in least
// room, of those that the hint allows; [Raw] unless it saves a tenth. It looks at
// the first 256 KiB of the sample.
func Choose(sample []byte, h Hint) Codec {
	sample = sample[:min(len(sample), sampleSize)]
	if compressed(sample) {
		return Raw
	}
	w := borrow()
	defer w.release()
	best, least := Raw, len(sample)-len(sample)/10
	var stored []byte
	for _, l := range h.layouts() {
		var err error
		if stored, err = w.encode(l, stored[:0], sample); err == nil && len(stored) < least {
			best, least = l.codec(), len(stored)
		}
	}
	return best
}

// layouts are those worth trying, the simplest first: it wins a tie.
func (h Hint) layouts() []layout {
	all := []layout{{compressed: true}}
	a, ok := h.array()
	if !ok {
		return all
	}
	for _, l := range []layout{
		{delta: true}, {planar: true}, {shuffle: true}, {delta: true, planar: true},
		{delta: true, shuffle: true}, {planar: true, shuffle: true}, {delta: true, planar: true, shuffle: true},
	} {
		if l.planar && a.columns == 1 || l.shuffle && a.element == 1 {
			continue // changes nothing
		}
		l.compressed, l.array = true, a
		all = append(all, l)
	}
	return all
}

// magics begin formats that are compressed already.
var magics = []struct {
	at   int
	text string
}{
	{0, "\xff\xd8\xff"},         // JPEG
	{0, "\x89PNG\r\n\x1a\n"},    //
	{0, "GIF8"},                 //
	{8, "WEBP"},                 //
	{4, "ftyp"},                 // MP4, MOV, HEIC, AVIF
	{0, "\x1aE\xdf\xa3"},        // Matroska, WebM
	{0, "fLaC"},                 //
	{0, "OggS"},                 //
	{0, "ID3"}, {0, "\xff\xfb"}, // MP3
	{0, "PK\x03\x04"},                                     // zip, npz
	{0, "\x1f\x8b"},                                       // gzip
	{0, "\x28\xb5\x2f\xfd"},                               // zstd
	{0, "\xfd7zXZ\x00"}, {0, "BZh"}, {0, "\x04\x22M\x18"}, // xz, bzip2, LZ4
	{0, "7z\xbc\xaf\x27\x1c"}, //
}

// compressed recognizes what need not be tried.
func compressed(sample []byte) bool {
	for _, m := range magics {
		if len(sample) > m.at && bytes.HasPrefix(sample[m.at:], []byte(m.text)) {
			return true
		}
	}
	return false
}
