package record

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// These say that something has changed: words, pairs of words, and parts of a text in scripts without spaces.
var (
	changes = setOf(`now anymore moved relocated reassigned replaced swapped exchanged changed updated upgraded renamed
		switched rebuilt repaired fixed cleaned released collected emptied refilled new
		jetzt nun neu neue neuer neues neuen verlegt versetzt verkürzt verlängert erhöht gesenkt umgezogen umgestellt
		umgebaut geändert ersetzt ausgetauscht getauscht gereinigt repariert aktualisiert hochgezogen freigegeben`)
	changePairs = setOf(`no:longer any:more as:of from:today since:today used:up ab:sofort nicht:mehr`)
	changeParts = []string{"现在", "改为", "改成", "改到", "换成", "换了", "搬到", "移到", "更新", "升级", "不再", "已经", "修好", "変更", "移動",
		"交換", "修理", "今は", "今日から", "新しい"}
)

// NamesChange reports whether a text says that something has changed.
func NamesChange(text string) bool {
	before, ascii := "", true

	for word := range strings.FieldsFuncSeq(text, func(r rune) bool {
		ascii = ascii && r < utf8.RuneSelf
		return !unicode.IsLetter(r)
	}) {
		word = strings.ToLower(word)
		if changes[word] || before != "" && changePairs[before+":"+word] {
			return true
		}
		before = ""

		// Only the first words of pairs are remembered.
		switch word {
		case "no", "any", "as", "from", "since", "used", "ab", "nicht":
			before = word
		}
	}

	return !ascii && holdsAny(text, changeParts)
}
