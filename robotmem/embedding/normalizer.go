package embedding

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/runes"
	"golang.org/x/text/unicode/norm"
)

// normalizer changes a text before it is split into words.
type normalizer func(string) string

// readNormalizer returns the normalizer that c describes. With nil, the text stays as it is.
func readNormalizer(c *component) (normalizer, error) {
	if c == nil {
		return normalizers(nil)
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
		return runes.Remove(runes.In(unicode.M)).String, nil
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
		return nmtNFKC, nil
	}

	return nil, fmt.Errorf("the normalizer %q is not supported", c.Type)
}

// normalizers returns the normalizer that does all of a list in order.
func normalizers(list []component) (normalizer, error) {
	all := func(s string) string { return s }

	for i := range list {
		step, err := readNormalizer(&list[i])
		if err != nil {
			return nil, err
		}
		before := all
		all = func(s string) string { return step(before(s)) }
	}

	return all, nil
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

// ideographs holds the characters that BERT treats as words: the CJK blocks of 2018, without kana.
var ideographs = &unicode.RangeTable{
	R16: []unicode.Range16{{0x3400, 0x4dbf, 1}, {0x4e00, 0x9fff, 1}, {0xf900, 0xfaff, 1}},
	R32: []unicode.Range32{{0x20000, 0x2a6df, 1}, {0x2a700, 0x2ceaf, 1}, {0x2f800, 0x2fa1f, 1}},
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
			case c.HandleChineseChars && unicode.Is(ideographs, r):
				b.WriteByte(' ')
				b.WriteRune(r)
				b.WriteByte(' ')
			default:
				b.WriteRune(r)
			}
		}

		// ASCII has no accents, and NFD is slow.
		s = b.String()
		if stripAccents && !ascii {
			s = runes.Remove(runes.In(unicode.Mn)).String(norm.NFD.String(s))
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

func isControl(r rune) bool {
	return r != '\t' && r != '\n' && r != '\r' && (r == utf8.RuneError || unicode.Is(unicode.C, r))
}

// nmtNFKC does what the precompiled character map of nearly every SentencePiece model does, whose
// rules are named nmt_nfkc: control characters are removed, white space and characters of no width
// become spaces, and NFKC follows. The map in the file is not read.
// https://github.com/google/sentencepiece/blob/master/doc/normalization.md
func nmtNFKC(s string) string {
	return norm.NFKC.String(strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r), r >= '\u200b' && r <= '\u200f', r == '\u2581', r == '\ufeff', r == utf8.RuneError:
			return ' '
		case unicode.IsControl(r):
			return -1
		}

		return r
	}, s))
}
