package perception

import (
	"encoding/binary"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// A .npy file (NumPy enhancement proposal 1) is the magic, a version of two
// bytes, the length of the header (two bytes in version 1, four in 2 and 3), the
// header as the text of a Python dict
//
//	{'descr': '<f8', 'fortran_order': False, 'shape': (15, 6), }
//
// and the elements. The dict is matched, never evaluated; an array of objects is
// a pickle, which could run code, and is refused.

// npyHeader is what the dict says, with the elements that follow it.
type npyHeader struct {
	descr   string
	fortran bool
	shape   []int
	rest    []byte
}

// maxNPYHeader is the limit that NumPy itself sets.
const maxNPYHeader = 10_000

// maxNPYDims is the limit of NumPy 1.
const maxNPYDims = 32

var (
	npyDescr   = regexp.MustCompile(`'descr'\s*:\s*'([<>=|]?[a-zA-Z][0-9]*)'`)
	npyFortran = regexp.MustCompile(`'fortran_order'\s*:\s*(True|False)`)
	npyShape   = regexp.MustCompile(`'shape'\s*:\s*\(([0-9, ]*)\)`)
)

func parseNPY(data []byte) (h npyHeader, err error) {
	const prefix = len(npyMagic) + 2
	if len(data) < prefix+4 {
		return h, errors.New("the .npy file ends within its header")
	}
	size, start := int64(binary.LittleEndian.Uint16(data[prefix:])), prefix+2
	if version := data[len(npyMagic)]; version == 2 || version == 3 {
		size, start = int64(binary.LittleEndian.Uint32(data[prefix:])), prefix+4
	} else if version != 1 {
		return h, fmt.Errorf(".npy version %d is not known", version)
	}
	if size > maxNPYHeader || size > int64(len(data)-start) {
		return h, fmt.Errorf("the .npy header of %d bytes is longer than the file or the limit of %d", size, maxNPYHeader)
	}
	dict := data[start : start+int(size)]
	descr, order, shape := npyDescr.FindSubmatch(dict), npyFortran.FindSubmatch(dict), npyShape.FindSubmatch(dict)
	if descr == nil || order == nil || shape == nil {
		return h, errors.New("the .npy header names no plain element type, order and shape")
	}
	h.descr, h.fortran, h.rest = string(descr[1]), string(order[1]) == "True", data[start+int(size):]
	for part := range strings.SplitSeq(string(shape[1]), ",") {
		if part = strings.TrimSpace(part); part == "" {
			continue
		}
		n, err := strconv.ParseInt(part, 10, 32)
		if err != nil || len(h.shape) == maxNPYDims {
			return h, errors.New("the .npy shape is larger than any array that is read here")
		}
		h.shape = append(h.shape, int(n))
	}
	return h, nil
}

func decodeNPY(data []byte) (*series, error) {
	h, err := parseNPY(data)
	if err != nil {
		return nil, err
	}
	if strings.HasSuffix(h.descr, "O") {
		return nil, errors.New("the .npy array holds pickled Python objects, which are not read; save an array of numbers")
	}
	e, ok := elementOf(h.descr)
	if !ok {
		return nil, fmt.Errorf("the .npy element type %s is not read as a trace; use %s", h.descr, elementNames)
	}
	if len(h.shape) != 1 && len(h.shape) != 2 {
		return nil, fmt.Errorf("the .npy array has %d dimensions; a trace has one or two", len(h.shape))
	}
	rows, width := h.shape[0], 1
	if len(h.shape) == 2 {
		width = h.shape[1]
	}
	// Both factors are below 2^31, so neither product below overflows.
	if rows == 0 || width == 0 {
		return nil, errEmptyTrace
	}
	count := int64(rows) * int64(width)
	if count > int64(len(h.rest)/e.size) {
		return nil, fmt.Errorf("the .npy array needs %d elements of %d bytes; the file has %d bytes of them", count, e.size, len(h.rest))
	}
	if count > maxReadings {
		return nil, errTooLong
	}
	s := &series{width: width, values: e.readings(h.rest, int(count))}
	if h.fortran {
		s.values = rowsOf(s.values, rows)
	}
	return s, nil
}

// summarizeNPY describes an array of any type and shape that is no trace.
func summarizeNPY(it Item) string {
	h, err := parseNPY(it.Data)
	if err != nil || len(h.shape) == 0 || len(h.shape) > 8 {
		return ""
	}
	dims, room := make([]string, len(h.shape)), len(h.rest)+max(int(it.Size)-len(it.Data), 0)
	for i, n := range h.shape {
		dims[i] = strconv.Itoa(n)
		// An element takes a byte at least: a shape that needs more is a claim
		// that the file does not keep.
		if room /= max(n, 1); room == 0 {
			return ""
		}
	}
	return "array, " + strings.Join(dims, "x") + ", elements " + clean(h.descr, maxNameRunes)
}
