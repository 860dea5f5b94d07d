package robotmem

import (
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// MaxRequest is the largest size of a request in bytes of JSON without its payload, and
// of each item of a batch: the largest context, and 64 KiB for the other fields.
const MaxRequest = MaxContext + 64<<10

// Decoded values take up to 50 times the bytes of their JSON, so these limits apply
// before a request is decoded. The fields have stricter limits of their own.
const (
	maxValues      = 16_384 // objects, lists and simple values of a request
	maxBatchValues = 1_000_000
	maxItems       = 10_000
	maxNesting     = 64  // levels
	maxNumber      = 400 // characters; a 64-bit float in full has at most 325 before the point
)

// Bulk reports whether a request of the operation may be larger than MaxRequest,
// because it carries a payload or many items.
func (o *Op) Bulk() bool {
	return o.Name == "learn_batch" || o.Name == "save_document" || o.Name == "save_perception" || o.Name == "recall"
}

// scan checks the limits of a JSON request and allocates almost nothing. It stops at the
// first limit that is exceeded. It reports no syntax error: decoding ends at the same place.
func (o *Op) scan(request []byte) error {
	d := newDecoder(request)
	defer d.release()

	batch := o.Name == "learn_batch" || o.Name == "save_document"
	most := maxValues
	if batch {
		most = maxBatchValues
	}

	var names [3]string // JSON of the names that enclose the value, for the first levels
	values := 0
	free := 0 // bytes up to here that do not count towards MaxRequest

	for {
		level := d.StackDepth()
		in, n := d.StackIndex(level)
		isName := in == jsontext.KindBeginObject && n%2 == 0

		var (
			raw []byte
			err error
		)
		kind := d.PeekKind()

		// Strings and numbers are read whole for their size. So is a payload that is an array of numbers, because it
		// is stored as text and its numbers do not count as values.
		isArray := kind == jsontext.KindBeginArray && o.isPayload(names, level)
		if kind == jsontext.KindString || kind == jsontext.KindNumber || isArray {
			raw, err = d.ReadValue()
		} else {
			_, err = d.ReadToken()
		}
		if err != nil {
			return nil
		}
		end := int(d.InputOffset())

		item := batch && level == 2 && in == jsontext.KindBeginArray
		switch {
		case d.StackDepth() < level:
			// The end of an object or a list.
			continue
		case isName && level < len(names):
			// isPayload compares names of at most 13 bytes, so a longer name may be cut.
			names[level] = string(raw[:min(len(raw), 16)])
		case !isName:
			values++
		}

		// Each item has a limit of its own, so what is before its end does not count for the next one.
		if item {
			free = end
		} else if !isName && o.isPayload(names, level) {
			free += len(raw)
		}

		switch {
		case values > most:
			return o.limitError(d, TooLarge, "is one value more than the %d that a request may hold; "+
				"send less, or store arrays of data with save_perception", most)
		case item && n == maxItems:
			return o.limitError(d, Invalid, "must be between 1 and %d items, not more; split them into several calls",
				maxItems)
		case d.StackDepth() > maxNesting:
			return o.limitError(d, Invalid, "is nested more than %d deep; make it flatter", maxNesting)
		case kind == jsontext.KindNumber && len(raw) > maxNumber:
			return o.limitError(d, Invalid, "is a number of more than %d characters; round it", maxNumber)
		case end-free > MaxRequest:
			return o.limitError(d, TooLarge, "goes beyond %d bytes, the limit of a request without its payload "+
				"and of an item of a batch; store large data with save_perception", MaxRequest)
		}
	}
}

// isPayload reports whether a member holds a payload, which does not count towards
// MaxRequest: data and data_base64 of save_perception and of like in recall, or a like
// that is a string with the object in it.
func (o *Op) isPayload(names [3]string, level int) bool {
	isData := func(name string) bool { return name == `"data"` || name == `"data_base64"` }
	if o.Name == "recall" && names[1] == `"like"` {
		return level == 1 || level == 2 && isData(names[2])
	}
	return o.Name == "save_perception" && level == 1 && isData(names[1])
}

// limitError returns the error of a value over a limit, with its place as a JSON pointer.
func (o *Op) limitError(d *decoder, kind Kind, format string, args ...any) error {
	pointer := string(d.StackPointer())
	field, _, _ := strings.Cut(strings.TrimPrefix(pointer, "/"), "/")
	if _, known := fieldsOf(o.In)[field]; !known {
		field = ""
	}

	err := fmt.Errorf("the value at %.200s "+format, append([]any{pointer}, args...)...)

	return &Error{Op: o.Name, Kind: kind, Field: field, Err: err}
}
