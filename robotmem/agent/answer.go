package agent

import (
	"bytes"
	"encoding/json"
)

// JSON is the answer in the form of the client of an event, empty if there is nothing to say.
func (a Answer) JSON(e *Event) ([]byte, error) {
	var out map[string]any

	switch {
	case a.Ask != "":
		out = asking(e, a.Ask)
	case a.Context != "":
		out = adding(e, a.Context)
	case e.Client == Cursor && e.Kind == Prompt:
		// Cursor waits for this word.
		out = map[string]any{"continue": true}
	}
	if out == nil {
		return nil, nil
	}

	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false) // the block of memories begins with <
	err := enc.Encode(out)

	return text.Bytes(), err
}

// adding is the form in which a client takes a context.
func adding(e *Event, text string) map[string]any {
	if e.Client == Cursor {
		return map[string]any{"additional_context": text}
	}
	return map[string]any{"hookSpecificOutput": map[string]any{"hookEventName": e.Name, "additionalContext": text}}
}

// asking is the form in which a client lets its agent go on.
func asking(e *Event, text string) map[string]any {
	switch e.Client {
	case Cursor:
		return map[string]any{"followup_message": text}
	case Gemini:
		return map[string]any{"decision": "deny", "reason": text}
	case VSCode:
		return map[string]any{"hookSpecificOutput": map[string]any{
			"hookEventName": e.Name, "decision": "block", "reason": text,
		}}
	}

	return map[string]any{"decision": "block", "reason": text}
}
