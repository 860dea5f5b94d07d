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

// Derived reports whether a memory is a turn of a conversation, its summary, or what a dream has drawn from other
// memories: it says what was said or what is stored already.
func Derived(m *robotmem.Memory) bool {
	if role, ok := m.Context.At("chat.role"); ok && role != "fact" {
		return true
	}
	if task, _ := m.Context.At("model.task"); task == "contradiction" {
		return true
	}
	_, drawn := m.Context.At("model.from")

	return drawn
}
