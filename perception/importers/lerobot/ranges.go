package lerobot

import (
	"fmt"
	"strconv"
	"strings"
)

// ParseRanges reads numbers and ranges of episodes, such as "0" and "5-9".
func ParseRanges(texts []string) ([]Range, error) {
	var out []Range

	for _, text := range texts {
		first, last, isRange := strings.Cut(strings.TrimSpace(text), "-")
		if !isRange {
			last = first
		}
		a, err1 := strconv.ParseInt(first, 10, 64)
		b, err2 := strconv.ParseInt(last, 10, 64)
		if err1 != nil || err2 != nil || a < 0 || b < a {
			return nil, fmt.Errorf("takes numbers and ranges such as 0,5-9, not %q", text)
		}
		out = append(out, Range{First: a, Last: b})
	}

	return out, nil
}
