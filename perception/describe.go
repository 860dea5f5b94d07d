package perception

// Describe is [Summarize], and brings the features of the item along where they
// are to be had for little more: of an image, which is decoded but once for
// both. Elsewhere kind is "", which says nothing: [Features] tells.
func Describe(it Item) (summary, kind string, vector []float32) {
	if len(it.Data) == 0 {
		return "", "", nil
	}
	for _, f := range formats {
		if !f.accepts(it) {
			continue
		}
		if f.describe == nil {
			break
		}
		summary, kind, vector = f.describe(it)
		if summary == "" || kind == "" || !allFinite(vector) {
			break
		}
		return clean(summary, maxSummary), kind, vector
	}
	return Summarize(it), "", nil
}
