package classify

import "slices"

// Categories returns all categories in order of precedence; Fallback is last.
func (r *Rules) Categories() []string {
	return append(slices.Clone(r.categories), Fallback)
}
