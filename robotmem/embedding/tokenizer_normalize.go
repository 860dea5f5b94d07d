package embedding

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// normalizer changes a text before it is split.
type normalizer func(string) string

// readNormalizer returns the step that p describes, nothing changed for nil.
func readNormalizer(p *part) (normalizer, error) {
	if p == nil {
		return func(s string) string { return s }, nil
	}
	switch p.Type {
	case "Sequence":
		steps := make([]normalizer, len(p.Normalizers))
		for i := range steps {
			var err error
			if steps[i], err = readNormalizer(&p.Normalizers[i]); err != nil {
				return nil, err
			}
		}
		return func(s string) string {
			for _, step := range steps {
				s = step(s)
			}
			return s
		}, nil
	case "BertNormalizer":
		return bertNormalizer(p), nil
	case "Lowercase":
		return lower, nil
	case "NFC":
		return norm.NFC.String, nil
	case "NFD":
		return norm.NFD.String, nil
	case "NFKC":
		return norm.NFKC.String, nil
	case "NFKD":
		return norm.NFKD.String, nil
	case "StripAccents":
		return func(s string) string { return without(unicode.M, s) }, nil
	case "Strip":
		return stripNormalizer(p), nil
	case "Prepend":
		return func(s string) string {
			if s == "" {
				return s
			}
			return p.Prepend + s
		}, nil
	case "Replace":
		return replaceNormalizer(p)
	case "Precompiled":
		return readCharsmap(p.Charsmap)
	}
	return nil, fmt.Errorf("a normalizer of type %q is not read", p.Type)
}

func stripNormalizer(p *part) normalizer {
	return func(s string) string {
		if p.StripLeft {
			s = strings.TrimLeftFunc(s, unicode.IsSpace)
		}
		if p.StripRight {
			s = strings.TrimRightFunc(s, unicode.IsSpace)
		}
		return s
	}
}

func replaceNormalizer(p *part) (normalizer, error) {
	if p.Pattern.String != nil {
		return func(s string) string { return strings.ReplaceAll(s, *p.Pattern.String, p.Content) }, nil
	}
	if p.Pattern.Regex == nil {
		return nil, fmt.Errorf("a normalizer of type %q without a pattern", p.Type)
	}
	re, err := regexp.Compile(*p.Pattern.Regex)
	if err != nil {
		return nil, fmt.Errorf("the pattern of a normalizer: %w", err)
	}
	return func(s string) string { return re.ReplaceAllLiteralString(s, p.Content) }, nil
}

// bertNormalizer is what BERT's own tokenizer does first: control characters
// go, blanks become spaces, each Chinese character a word, then accents and
// capitals go, accents with the capitals unless the file says otherwise.
func bertNormalizer(p *part) normalizer {
	stripAccents := p.Lowercase
	if p.StripAccents != nil {
		stripAccents = *p.StripAccents
	}
	return func(s string) string {
		var b strings.Builder
		b.Grow(len(s))
		ascii := true
		for _, r := range s {
			ascii = ascii && r < utf8.RuneSelf
			switch {
			case p.CleanText && isControl(r):
			case p.CleanText && unicode.IsSpace(r):
				b.WriteByte(' ')
			case p.HandleChineseChars && isChinese(r):
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
		if p.Lowercase {
			s = lower(s)
		}
		return s
	}
}

// lower keeps the dot of İ as a mark of its own, as Unicode's full mapping does
// and strings.ToLower does not.
func lower(s string) string { return strings.ToLower(strings.ReplaceAll(s, "İ", "i\u0307")) }

// without removes the runes of a table.
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

// isChinese is BERT's idea of it: the ideographs of 2018, and no kana.
func isChinese(r rune) bool {
	switch {
	case r < 0x3400:
		return false
	case r <= 0x4dbf, r >= 0x4e00 && r <= 0x9fff, r >= 0xf900 && r <= 0xfaff:
		return true
	}
	return r >= 0x20000 && r <= 0x2a6df || r >= 0x2a700 && r <= 0x2ceaf || r >= 0x2f800 && r <= 0x2fa1f
}
