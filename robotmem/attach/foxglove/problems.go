package foxglove

import (
	"fmt"
	"maps"
	"sync"
)

// Reason names what was wrong with something that the other side sent.
type Reason string

// The reasons, which are all there are: what a hostile peer sends makes no new ones.
const (
	BadJSON             Reason = "bad_json"             // a text message that is not the JSON of the protocol
	UnknownOp           Reason = "unknown_op"           // a text message of an unknown kind
	UnknownOpcode       Reason = "unknown_opcode"       // a binary message of an unknown kind
	Truncated           Reason = "truncated"            // a binary message that ends before its fields do
	TooLarge            Reason = "too_large"            // a message over the limit, which was read past
	BadChannel          Reason = "bad_channel"          // a channel without an id or a topic
	BadSchema           Reason = "bad_schema"           // a channel whose schema is not base64, and has to be
	TooManyChannels     Reason = "too_many_channels"    // a channel after the first maxChannels
	SchemasTooLarge     Reason = "schemas_too_large"    // a channel with which all definitions exceed maxDefinitions
	UnknownChannel      Reason = "unknown_channel"      // an id that no channel has
	UnknownSubscription Reason = "unknown_subscription" // an id that no subscription ever had
	LateMessage         Reason = "late_message"         // a message of a subscription that ended long ago
	BadParameter        Reason = "bad_parameter"        // a parameter without a name, or after the first maxParameters
	BadSubscription     Reason = "bad_subscription"     // a subscription without ids, a second one to a channel, or an id in use
	BadPlayback         Reason = "bad_playback"         // a state or a request of playback that makes no sense
	NotSupported        Reason = "not_supported"        // a request for a capability that the server does not have
)

// Problem is how often something went wrong.
type Problem struct {
	Count uint64
	Last  string // the latest, with its details
}

// maxProblemText bounds what is kept of a problem, in bytes.
const maxProblemText = 200

// problems counts by reason. The zero value is ready, and may be used by several goroutines.
type problems struct {
	mu       sync.Mutex // guards byReason
	byReason map[Reason]Problem
}

func (p *problems) add(r Reason, format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if len(text) > maxProblemText {
		text = text[:maxProblemText] + "…"
	}

	p.mu.Lock()
	defer p.mu.Unlock()
	if p.byReason == nil {
		p.byReason = map[Reason]Problem{}
	}
	p.byReason[r] = Problem{p.byReason[r].Count + 1, text}
}

func (p *problems) copy() map[Reason]Problem {
	p.mu.Lock()
	defer p.mu.Unlock()

	return maps.Clone(p.byReason)
}
