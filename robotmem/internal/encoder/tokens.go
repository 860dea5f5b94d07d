package encoder

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// The tokens of a text that are no pieces of it.
const (
	tokenStart = iota
	tokenEnd
	tokenUnknown
	specials
)

// space is the character that stands for a space in pieces.
const space = '\u2581'

// tokens divides texts into the pieces of a unigram model: those of the division whose scores have the
// largest sum. The pieces stay where they are.
type tokens struct {
	offsets, scores, blob []byte
	count, longest        int // pieces, and the bytes of the longest one
	unknown               float32
	first                 [257]int32 // the pieces that begin with a byte are first[b] to first[b+1]
	characters            map[rune][]rune
}

func newTokens(parts [][]byte, pieces, characters int, unknown float32) (tokens, error) {
	t := tokens{
		offsets: parts[secOffsets], scores: parts[secScores], blob: parts[secBlob], count: pieces, unknown: unknown,
	}
	if len(t.offsets) != 4*(pieces+1) || len(t.scores) != 4*pieces {
		return t, fmt.Errorf("%w: its pieces do not fit", ErrDamaged)
	}

	for i, at := 0, 0; i < pieces; i++ {
		end := t.offset(i + 1)
		// Increasing offsets also make sure that later lookups stay within the blob.
		if end <= at || end > len(t.blob) {
			return t, fmt.Errorf("%w: piece %d has no text", ErrDamaged, i)
		}
		t.longest = max(t.longest, end-at)
		t.first[int(t.blob[at])+1] = int32(i + 1)
		at = end
	}

	// A byte that begins no piece gets an empty range after the byte before it.
	for b := range t.first[1:] {
		t.first[b+1] = max(t.first[b+1], t.first[b])
	}

	t.characters = make(map[rune][]rune, characters)

	for rest := parts[secCharacters]; len(rest) > 0; {
		if len(rest) < 8 {
			return t, fmt.Errorf("%w: its characters do not fit", ErrDamaged)
		}
		from, n := rune(binary.LittleEndian.Uint32(rest)), int(binary.LittleEndian.Uint32(rest[4:]))
		if rest = rest[8:]; n > len(rest)/4 {
			return t, fmt.Errorf("%w: its characters do not fit", ErrDamaged)
		}

		to := make([]rune, n)
		for i := range to {
			to[i] = rune(binary.LittleEndian.Uint32(rest[4*i:]))
		}
		t.characters[from], rest = to, rest[4*n:]
	}

	return t, nil
}

func (t *tokens) offset(i int) int { return int(binary.LittleEndian.Uint32(t.offsets[4*i:])) }

func (t *tokens) score(i int) float32 {
	return math.Float32frombits(binary.LittleEndian.Uint32(t.scores[4*i:]))
}

func (t *tokens) piece(i int) []byte { return t.blob[t.offset(i):t.offset(i+1)] }

// normalize returns the text in the characters of the model, with one space for several and one before it.
func (t *tokens) normalize(text string) []byte {
	out := make([]byte, 0, len(text)+16)
	last := rune(0)

	add := func(r rune) {
		if r == ' ' {
			if last == ' ' {
				return
			}
			out, last = utf8.AppendRune(out, space), r
			return
		}
		if last == 0 {
			out = utf8.AppendRune(out, space)
		}
		out, last = utf8.AppendRune(out, r), r
	}
	for _, r := range norm.NFC.String(text) {
		to, mapped := t.characters[r]
		if !mapped {
			add(r)
			continue
		}

		for _, r := range to {
			add(r)
		}
	}

	if len(out) == 0 {
		out = utf8.AppendRune(out, space)
	}

	return out
}

// split returns the tokens of a text, without those of its start and end.
func (t *tokens) split(text string) []int32 {
	s := t.normalize(text)

	type step struct {
		score float32 // of the best division that ends here
		from  int32   // where its last piece begins
		token int32
	}

	steps := make([]step, len(s)+1)
	for i := range steps {
		steps[i].score = float32(math.Inf(-1))
	}

	steps[0].score = 0
	reach := func(at, from int, token int32, score float32) {
		if score += steps[from].score; score > steps[at].score {
			steps[at] = step{score, int32(from), token}
		}
	}

	for i := 0; i < len(s); {
		_, n := utf8.DecodeRune(s[i:])
		t.prefixes(s[i:], func(length, piece int) { reach(i+length, i, int32(specials+piece), t.score(piece)) })
		// Every character has a step, or a character without a piece would end all divisions.
		reach(i+n, i, tokenUnknown, t.unknown)
		i += n
	}

	out := make([]int32, 0, len(s)/3+2)
	for at := len(s); at > 0; at = int(steps[at].from) {
		out = append(out, steps[at].token)
	}

	slices.Reverse(out)

	return out
}

// prefixes calls found for each piece that s begins with. The pieces are sorted, so those that share the
// first bytes of s are a range, which becomes smaller with each byte.
func (t *tokens) prefixes(s []byte, found func(length, piece int)) {
	low, high := int(t.first[s[0]]), int(t.first[int(s[0])+1])
	for n := 1; low < high; n++ {
		if p := t.piece(low); len(p) == n {
			found(n, low)
			low++
		}
		if n == len(s) || n >= t.longest {
			return
		}
		low, high = t.narrow(low, high, n, s[n])
	}
}

// narrow returns the pieces of a range, all longer than n bytes, whose byte n is c.
func (t *tokens) narrow(low, high, n int, c byte) (int, int) {
	at := func(i int) byte { return t.blob[t.offset(i)+n] }
	bound := func(from int, c int) int {
		to := high
		for from < to {
			if mid := int(uint(from+to) >> 1); int(at(mid)) < c {
				from = mid + 1
			} else {
				to = mid
			}
		}

		return from
	}
	low = bound(low, int(c))

	return low, bound(low, int(c)+1)
}
