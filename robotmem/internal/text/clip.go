package text

// Clip cuts s to n runes, with an ellipsis when something was cut.
func Clip(s string, n int) string {
	seen := 0
	for i := range s {
		if seen == n {
			return s[:i] + "…"
		}
		seen++
	}
	return s
}
