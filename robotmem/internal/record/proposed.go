package record

import (
	"github.com/robotmem/robotmem-go/consolidate"
	"github.com/robotmem/robotmem-go/robotmem"
)

// Values at the path model.state of a context, which workers of a language model write.
const (
	StateProposed  = "proposed"
	StateConfirmed = "confirmed"
)

// Proposed reports whether a memory is what a language model proposes, and neither a person nor the outcomes of the
// episodes that used it have confirmed it. Nothing takes it for a rule.
func Proposed(m *robotmem.Memory) bool {
	state, _ := m.Context.At("model.state")
	return state == StateProposed && m.Tier != consolidate.TierProven
}
