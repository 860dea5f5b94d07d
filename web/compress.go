package web

import (
	"bytes"
	"net/http"
	"strconv"
	"strings"

	"github.com/klauspost/compress/gzip"
)

// minGzip is the least that is compressed, in bytes: what fits one packet is
// not sent sooner for being smaller.
const minGzip = 1400

// squeeze compresses an answer for a caller that takes gzip, and says so in its
// headers. It keeps no state between answers: a compressor that looks back takes
// most of a megabyte for each of them.
func squeeze(w http.ResponseWriter, r *http.Request, data []byte) []byte {
	w.Header().Add("Vary", "Accept-Encoding")
	if len(data) < minGzip || !takesGzip(r) {
		return data
	}
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.StatelessCompression)
	if err != nil {
		return data
	}
	if _, err := z.Write(data); err != nil || z.Close() != nil || b.Len() >= len(data) {
		return data
	}
	w.Header().Set("Content-Encoding", "gzip")
	return b.Bytes()
}

// takesGzip reports whether the caller names gzip, and not to refuse it.
func takesGzip(r *http.Request) bool {
	for _, header := range r.Header.Values("Accept-Encoding") {
		for part := range strings.SplitSeq(header, ",") {
			name, params, _ := strings.Cut(part, ";")
			if !strings.EqualFold(strings.TrimSpace(name), "gzip") {
				continue
			}
			q, given := strings.CutPrefix(strings.ToLower(strings.ReplaceAll(params, " ", "")), "q=")
			weight, err := strconv.ParseFloat(q, 64)
			return !given || err == nil && weight > 0
		}
	}
	return false
}
