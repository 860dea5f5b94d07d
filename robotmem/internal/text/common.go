package text

import (
	_ "embed"
	"strings"
	"sync"
)

//go:embed common.txt
var commonList string

// commonStems holds the stems of the words of common.txt.
var commonStems = sync.OnceValue(func() map[string]bool {
	out := map[string]bool{}

	for line := range strings.Lines(commonList) {
		if strings.HasPrefix(line, "#") {
			continue
		}

		for _, w := range strings.Fields(line) {
			out[Stem(fold(w))] = true
		}
	}

	return out
})

// Common reports whether a stem is that of a word which occurs in texts of every kind, such as "take" or
// "keep". In a small memory such a word may be rare, and yet it says little.
func Common(stem string) bool { return commonStems()[stem] }
