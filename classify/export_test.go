package classify

import "slices"

// Categories returns all categories in order of precedence.
func (r *Rules) Categories() []string {
	return slices.Clone(r.categories)
}
