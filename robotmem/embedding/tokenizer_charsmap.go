package embedding

import (
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A precompiled character map is SentencePiece's table of replacements (NFKC
// and some more): the length of a trie in bytes, the trie, then the replacing
// texts, each ended by a zero. The trie is a double array, one uint32 a unit:
// bit 31 and the low byte are the label, bit 8 says that a value follows, the
// bits from 10 on are the offset to the children, 8 times that with bit 9; a
// unit with a value holds where the text begins.
// https://github.com/s-yata/darts-clone

// charsmap replaces characters. It is read from a file, and no index is
// trusted.
type charsmap struct {
	units []uint32
	texts string
}

// longestCluster is the number of bytes up to which a letter with its marks is
// looked up as one.
const longestCluster = 6

// The joiners belong to the letter before them.
const (
	nonJoiner = '\u200c'
	joiner    = '\u200d'
)

// readCharsmap reads the map in base64.
func readCharsmap(encoded string) (normalizer, error) {
	data, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		return nil, fmt.Errorf("the precompiled character map: %w", err)
	}
	if len(data) < 4 {
		return nil, errors.New("the precompiled character map is empty")
	}
	n := binary.LittleEndian.Uint32(data)
	data = data[4:]
	if n%4 != 0 || int64(n) > int64(len(data)) {
		return nil, errors.New("the precompiled character map is cut off")
	}
	c := &charsmap{units: make([]uint32, n/4), texts: string(data[n:])}
	for i := range c.units {
		c.units[i] = binary.LittleEndian.Uint32(data[4*i:])
	}
	return c.normalize, nil
}

// normalize replaces each letter with its marks, or else each rune, that the
// map knows.
func (c *charsmap) normalize(s string) string {
	var b strings.Builder
	b.Grow(len(s))
	for len(s) > 0 {
		cluster := clusterOf(s)
		s = s[len(cluster):]
		if len(cluster) < longestCluster {
			if text, ok := c.lookUp(cluster); ok {
				b.WriteString(text)
				continue
			}
		}
		for _, r := range cluster {
			if text, ok := c.lookUp(string(r)); ok {
				b.WriteString(text)
			} else {
				b.WriteRune(r)
			}
		}
	}
	return b.String()
}

// clusterOf returns the first rune of s with the marks that follow it, which is
// a grapheme cluster in most scripts.
func clusterOf(s string) string {
	first, n := utf8.DecodeRuneInString(s)
	if first == '\r' && strings.HasPrefix(s[n:], "\n") {
		return s[:2]
	}
	for n < len(s) && !unicode.Is(unicode.C, first) {
		r, m := utf8.DecodeRuneInString(s[n:])
		if !unicode.Is(unicode.M, r) && r != joiner && r != nonJoiner {
			break
		}
		n += m
	}
	return s[:n]
}

// lookUp returns what the shortest prefix of key in the map is replaced by,
// which is what the tokenizers do with a whole cluster.
func (c *charsmap) lookUp(key string) (string, bool) {
	if len(c.units) == 0 {
		return "", false
	}
	at := offsetOf(c.units[0])
	for i := range len(key) {
		if at ^= uint32(key[i]); at >= uint32(len(c.units)) {
			return "", false
		}
		unit := c.units[at]
		if unit&(1<<31|0xff) != uint32(key[i]) {
			return "", false
		}
		at ^= offsetOf(unit)
		if unit>>8&1 == 0 {
			continue
		}
		if at >= uint32(len(c.units)) {
			return "", false
		}
		begin := c.units[at] &^ (1 << 31)
		if begin > uint32(len(c.texts)) {
			return "", false
		}
		text, _, _ := strings.Cut(c.texts[begin:], "\x00")
		return text, true
	}
	return "", false
}

func offsetOf(unit uint32) uint32 { return unit >> 10 << (unit & (1 << 9) >> 6) }
