package robotmem

import (
	"bytes"
	"fmt"
	"strconv"
	"unicode/utf16"
)

// JSON can escape half of a surrogate pair ("\ud800"), which is no character and has no UTF-8. Decoders replace
// it in silence, so the stored text would differ from the text that was sent. Such a request is refused, as one with
// bytes that are not UTF-8.

// escapeLength is the length of an escape such as \ud800.
const escapeLength = 6

// LoneSurrogate returns the first escape in JSON that is half of a surrogate pair, "" if there is none.
func LoneSurrogate(data []byte) string {
	at := loneSurrogate(data)
	if at < 0 {
		return ""
	}
	return string(data[at : at+escapeLength])
}

// loneSurrogate returns the offset of the escape, -1 if there is none. Backslashes occur in strings only.
func loneSurrogate(data []byte) int {
	for at := 0; ; {
		next := bytes.IndexByte(data[at:], '\\')
		if next < 0 {
			return -1
		}
		at += next

		unit := codeUnit(data[at:])
		switch {
		case unit < 0:
			// Another escape, such as of a backslash.
			at = min(at+2, len(data))
		case !utf16.IsSurrogate(unit):
			at += escapeLength
		case utf16.DecodeRune(unit, codeUnit(data[at+escapeLength:])) == '\uFFFD':
			return at
		default:
			at += 2 * escapeLength
		}
	}
}

// codeUnit returns the UTF-16 code unit of the escape that data begins with, -1 if it begins with none.
func codeUnit(data []byte) rune {
	if len(data) < escapeLength || data[0] != '\\' || data[1] != 'u' {
		return -1
	}
	n, err := strconv.ParseUint(string(data[2:escapeLength]), 16, 16)
	if err != nil {
		return -1
	}

	return rune(n)
}

const surrogateFault = "holds %s, half of a surrogate pair, which is no character; " +
	"send the whole pair or the character itself"

// refuseSurrogate fails with Invalid if a request holds half of a surrogate pair. It names the value.
func (o *Op) refuseSurrogate(request []byte) error {
	at := loneSurrogate(request)
	if at < 0 {
		return nil
	}

	// Read up to the escape, so that the decoder's position names the field. The scan above needs no decoder, and
	// nearly all requests end there.
	d := newDecoder(request)
	defer d.release()

	for int(d.InputOffset()) <= at {
		if _, err := d.ReadToken(); err != nil {
			break
		}
	}

	return o.limitError(d, Invalid, surrogateFault, request[at:at+escapeLength])
}

// surrogateError is the error of an object in a string, nil if it has no such escape.
func surrogateError(data []byte) error {
	if found := LoneSurrogate(data); found != "" {
		return fmt.Errorf(surrogateFault, found)
	}
	return nil
}
