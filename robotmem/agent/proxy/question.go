package proxy

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// question is the request of a client. What is not changed is sent on as it came, byte for byte.
type question struct {
	fields   map[string]json.RawMessage
	messages []json.RawMessage
	texts    []string // of the messages
	last     int      // the last message of the user, -1 if there is none
	isNew    bool     // it is the last of all messages: not the result of a tool

	conversation string
	topK         *int
	recency      *float64
	threshold    *float64
	stream       bool
}

const (
	maxConversation = 128 // bytes of memory_id
	maxTopK         = 100

	// usualConversation is that of a client that names none.
	usualConversation = "default"
	// global is the conversation of what holds in all.
	global = "global"
)

// read reads a request. Errors say what is wrong with it.
func read(body []byte) (*question, error) {
	q := &question{last: -1, conversation: usualConversation}
	if err := json.Unmarshal(body, &q.fields); err != nil || q.fields == nil {
		return nil, errors.New("the request is not a JSON object")
	}

	if err := q.ownFields(); err != nil {
		return nil, err
	}
	if raw := q.fields["stream"]; raw != nil {
		_ = json.Unmarshal(raw, &q.stream) // the upstream says what is wrong with it
	}

	if json.Unmarshal(q.fields["messages"], &q.messages) != nil || len(q.messages) == 0 {
		return nil, errors.New("messages must be a list with at least one message")
	}

	for i, raw := range q.messages {
		var m struct {
			Role    string
			Content json.RawMessage
		}
		if err := json.Unmarshal(raw, &m); err != nil {
			return nil, fmt.Errorf("messages[%d] is not a message with a role", i)
		}

		q.texts = append(q.texts, textOf(m.Content))
		if m.Role == "user" {
			q.last, q.isNew = i, i == len(q.messages)-1
		}
	}

	return q, nil
}

// ownFields takes the fields that are for the memory out of the request: the upstream may refuse what it does not know.
func (q *question) ownFields() error {
	take := func(name string, into any) error {
		raw, ok := q.fields[name]
		delete(q.fields, name)
		if !ok || string(raw) == "null" {
			return nil
		}
		if err := json.Unmarshal(raw, into); err != nil {
			return fmt.Errorf("%s is %s, which is not of its type", name, clipped(raw))
		}

		return nil
	}

	var id *string
	if err := errors.Join(take("memory_id", &id), take("memory_top_k", &q.topK),
		take("memory_recency_weight", &q.recency), take("memory_score_threshold", &q.threshold)); err != nil {
		return err
	}

	if id != nil {
		q.conversation = *id
	}

	switch {
	case q.conversation == "" || len(q.conversation) > maxConversation || !utf8.ValidString(q.conversation):
		return fmt.Errorf("memory_id must have 1 to %d bytes", maxConversation)
	case q.topK != nil && (*q.topK < 0 || *q.topK > maxTopK):
		return fmt.Errorf("memory_top_k must be 0 to %d", maxTopK)
	case q.recency != nil && !(*q.recency >= 0 && *q.recency <= 1):
		return errors.New("memory_recency_weight must be 0 to 1")
	case q.threshold != nil && !(*q.threshold >= 0 && *q.threshold <= 1):
		return errors.New("memory_score_threshold must be 0 to 1")
	}

	return nil
}

func clipped(raw []byte) string {
	const most = 40
	if len(raw) > most {
		return strings.ToValidUTF8(string(raw[:most]), "") + "…"
	}
	return string(raw)
}

// textOf is the text of a message: a string, or the parts of text of a list.
func textOf(content json.RawMessage) string {
	var text string
	if json.Unmarshal(content, &text) == nil {
		return text
	}

	var parts []struct{ Type, Text string }
	if json.Unmarshal(content, &parts) != nil {
		return ""
	}

	var texts []string

	for _, part := range parts {
		if part.Type == "text" && part.Text != "" {
			texts = append(texts, part.Text)
		}
	}

	return strings.Join(texts, "\n")
}

// body is the request for the upstream, with what is injected before the last message of the user.
func (q *question) body(injected string) ([]byte, error) {
	if injected == "" || q.last < 0 {
		return json.Marshal(q.fields)
	}

	var message map[string]json.RawMessage
	if err := json.Unmarshal(q.messages[q.last], &message); err != nil {
		return nil, err
	}

	var (
		text    string
		parts   []json.RawMessage
		content any
	)
	if json.Unmarshal(message["content"], &text) == nil {
		content = injected + "\n\n" + text
	} else if json.Unmarshal(message["content"], &parts) == nil {
		first, err := json.Marshal(map[string]string{"type": "text", "text": injected})
		if err != nil {
			return nil, err
		}
		content = append([]json.RawMessage{first}, parts...)
	} else {
		return json.Marshal(q.fields)
	}

	var err error
	if message["content"], err = plainJSON(content); err != nil {
		return nil, err
	}

	messages := append([]json.RawMessage{}, q.messages...)
	if messages[q.last], err = plainJSON(message); err != nil {
		return nil, err
	}

	fields := map[string]json.RawMessage{}
	for name, raw := range q.fields {
		fields[name] = raw
	}
	if fields["messages"], err = plainJSON(messages); err != nil {
		return nil, err
	}

	return plainJSON(fields)
}

// plainJSON is JSON without escapes of <, > and &, which are for pages.
func plainJSON(v any) ([]byte, error) {
	var out strings.Builder

	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	err := e.Encode(v)

	return []byte(strings.TrimSuffix(out.String(), "\n")), err
}
