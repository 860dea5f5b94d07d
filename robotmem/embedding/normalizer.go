package embedding

import (
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// normalizer changes a text before it is split into words.
type normalizer func(string) string

// readNormalizer returns the normalizer that c describes. With nil, the text
// stays as it is.
func readNormalizer(c *component) (normalizer, error) {
	if c == nil {
		return func(s string) string { return s }, nil
	}
	switch c.Type {
	case "Sequence":
		return normalizers(c.Normalizers)
	case "BertNormalizer":
		return bertNormalizer(c), nil
	case "Lowercase":
		return lower, nil
	case "NFC":
		return norm.NFC.String, nil
	case "NFD":
		return norm.NFD.String, nil
	case "NFKC":
		return norm.NFKC.String, nil
	case "StripAccents":
		return func(s string) string { return without(unicode.M, s) }, nil
	case "Strip":
		return func(s string) string {
			if c.StripLeft {
				s = strings.TrimLeftFunc(s, unicode.IsSpace)
			}
			if c.StripRight {
				s = strings.TrimRightFunc(s, unicode.IsSpace)
			}
			return s
		}, nil
	case "Replace":
		return replaceNormalizer(c)
	case "Precompiled":
		return readCharsmap(c.Charsmap)
	}
	return nil, fmt.Errorf("the normalizer %q is not supported", c.Type)
}

func normalizers(list []component) (normalizer, error) {
	steps, err := readAll(list, readNormalizer)
	if err != nil {
		return nil, err
	}
	return func(s string) string {
		for _, step := range steps {
			s = step(s)
		}
		return s
	}, nil
}

func replaceNormalizer(c *component) (normalizer, error) {
	if c.Pattern.String != nil {
		return func(s string) string { return strings.ReplaceAll(s, *c.Pattern.String, c.Content) }, nil
	}
	if c.Pattern.Regex == nil {
		return nil, fmt.Errorf("the normalizer %q has no pattern", c.Type)
	}
	re, err := regexp.Compile(*c.Pattern.Regex)
	if err != nil {
		return nil, fmt.Errorf("the pattern of a normalizer: %w", err)
	}
	return func(s string) string { return re.ReplaceAllLiteralString(s, c.Content) }, nil
}

// bertNormalizer removes control characters, turns white space into spaces,
// makes each Chinese character a word, and removes accents and capitals. Unless
// the file says otherwise, it removes accents if it removes capitals.
func bertNormalizer(c *component) normalizer {
	stripAccents := c.Lowercase
	if c.StripAccents != nil {
		stripAccents = *c.StripAccents
	}
	return func(s string) string {
		var b strings.Builder
		b.Grow(len(s))
		ascii := true
		for _, r := range s {
			ascii = ascii && r < utf8.RuneSelf
			switch {
			case c.CleanText && isControl(r):
			case c.CleanText && unicode.IsSpace(r):
				b.WriteByte(' ')
			case c.HandleChineseChars && isChinese(r):
				b.WriteByte(' ')
				b.WriteRune(r)
				b.WriteByte(' ')
			default:
				b.WriteRune(r)
			}
		}
		s = b.String()
		if stripAccents && !ascii {
			s = without(unicode.Mn, norm.NFD.String(s))
		}
		if c.Lowercase {
			s = lower(s)
		}
		return s
	}
}

// lower turns İ into i and a combining dot, as Unicode's full case mapping does.
// strings.ToLower drops the dot.
func lower(s string) string { return strings.ToLower(strings.ReplaceAll(s, "İ", "i\u0307")) }

func without(table *unicode.RangeTable, s string) string {
	return strings.Map(func(r rune) rune {
		if r >= utf8.RuneSelf && unicode.Is(table, r) {
			return -1
		}
		return r
	}, s)
}

func isControl(r rune) bool {
	return r != '\t' && r != '\n' && r != '\r' && (r == utf8.RuneError || unicode.Is(unicode.C, r))
}

// isChinese follows BERT: the CJK ideographs of 2018, without kana.
func isChinese(r rune) bool {
	switch {
	case r < 0x3400:
		return false
	case r <= 0x4dbf, r >= 0x4e00 && r <= 0x9fff, r >= 0xf900 && r <= 0xfaff:
		return true
	}
	return r >= 0x20000 && r <= 0x2a6df || r >= 0x2a700 && r <= 0x2ceaf || r >= 0x2f800 && r <= 0x2fa1f
}

// A precompiled character map is SentencePiece's table of replacements (NFKC
// and a few more): the length of a trie in bytes, the trie, then the
// replacements, each ended by a zero byte. The trie is a double array of uint32
// units. In a unit, bit 31 and the low byte are the label, bit 8 says that a
// value follows, and the bits from 10 on are the offset to the children, times
// 256 if bit 9 is set. A unit with a value holds where the replacement begins.
// https://github.com/s-yata/darts-clone

// charsmap replaces characters. It comes from a file, so every index is checked.
type charsmap struct {
	units []uint32
	texts string
}

// longestCluster is the length in bytes from which a letter with its marks is
// looked up rune by rune instead of as one.
const longestCluster = 6

// The joiners belong to the letter before them.
const (
	nonJoiner = '\u200c'
	joiner    = '\u200d'
)

// readCharsmap reads a precompiled character map in base64.
func readCharsmap(encoded string) (normalizer, error) {
	data, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		return nil, fmt.Errorf("the precompiled character map: %w", err)
	}
	if len(data) < 4 {
		return nil, errors.New("the precompiled character map is empty")
	}
	n := le.Uint32(data)
	data = data[4:]
	if n%4 != 0 || int64(n) > int64(len(data)) {
		return nil, errors.New("the precompiled character map is cut off")
	}
	c := &charsmap{units: make([]uint32, n/4), texts: string(data[n:])}
	_, err = binary.Decode(data, le, c.units)
	return c.normalize, err
}

// normalize replaces each letter with its marks, or else each rune, that is in
// the map.
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

// lookUp returns the replacement of the shortest prefix of key that is in the
// map. The Hugging Face tokenizers use it for a whole cluster.
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
