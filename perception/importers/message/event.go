package message

import (
	"regexp"
	"strings"
)

// A service or an action is defined by one text whose parts (request and response; goal, result and
// feedback) are separated by lines of three dashes. A recording holds types that the interface
// generator derives from it, and rosbag2 stores the whole text as the definition of each.

// dashes is the line between two parts.
var dashes = regexp.MustCompile(`(?m)^[ \t]*---[ \t\r]*$`)

// derived are the types that messages of services and actions have, by the end of their names. The
// texts are those of rosidl; # stands for the name of the service or action.
var derived = []struct {
	suffix string
	parts  int // of the definition: 2 of a service, 3 of an action
	types  []derivedType
}{
	{"_SendGoal_Event", 3, []derivedType{
		{
			"#_SendGoal_Event",
			"service_msgs/ServiceEventInfo info\n#_SendGoal_Request[<=1] request\n#_SendGoal_Response[<=1] response",
		},
		{"#_SendGoal_Request", "unique_identifier_msgs/UUID goal_id\n#_Goal goal"},
		{"#_SendGoal_Response", "bool accepted\nbuiltin_interfaces/Time stamp"},
	}},
	{"_GetResult_Event", 3, []derivedType{
		{
			"#_GetResult_Event",
			"service_msgs/ServiceEventInfo info\n#_GetResult_Request[<=1] request\n#_GetResult_Response[<=1] response",
		},
		{"#_GetResult_Request", "unique_identifier_msgs/UUID goal_id"},
		{"#_GetResult_Response", "int8 status\n#_Result result"},
	}},
	{"_FeedbackMessage", 3, []derivedType{
		{"#_FeedbackMessage", "unique_identifier_msgs/UUID goal_id\n#_Feedback feedback"},
	}},
	{"_Event", 2, []derivedType{
		{"#_Event", "service_msgs/ServiceEventInfo info\n#_Request[<=1] request\n#_Response[<=1] response"},
	}},
	{"_Request", 2, []derivedType{{"#_Request", ""}}},
	{"_Response", 2, []derivedType{{"#_Response", ""}}},
}

type derivedType struct{ name, text string }

// partSuffixes are the ends of the names of the parts' types, by the number of the parts.
var partSuffixes = map[int][]string{2: {"_Request", "_Response"}, 3: {"_Goal", "_Result", "_Feedback"}}

// introspection has the types that only derived types refer to.
var introspection = map[string]string{
	"service_msgs/ServiceEventInfo": "uint8 event_type\nbuiltin_interfaces/Time stamp\nuint8[16] client_gid\nint64 sequence_number\n",
}

// EventOf returns the service or action that a type is derived from, such as pkg/srv/Add for
// pkg/srv/Add_Event.
func EventOf(name string) (of string, ok bool) {
	for _, d := range derived {
		if of, ok := strings.CutSuffix(name, d.suffix); ok {
			return of, true
		}
	}
	return "", false
}

// defineAll adds the type of a text. If the text is that of a service or an action, the type is derived from it,
// and defineAll adds also the types that the derived one refers to.
func (p *parser) defineAll(name, text string) error {
	parts := dashes.Split(text, -1)

	for _, d := range derived {
		of, ok := strings.CutSuffix(name, d.suffix)
		// The suffix alone proves nothing: a message may be called pkg/msg/Start_Request.
		if !ok || len(parts) != d.parts {
			continue
		}

		for _, t := range d.types {
			if t.text == "" {
				// The type is one of the parts, which defineParts adds.
				continue
			}
			if _, err := p.define(strings.ReplaceAll(t.name, "#", of), strings.ReplaceAll(t.text, "#", of)); err != nil {
				return err
			}
		}

		return p.defineParts(of, name, parts)
	}

	_, err := p.define(name, text)

	return err
}

// defineParts adds the types of the parts of a definition. The root comes first if it is one of them.
func (p *parser) defineParts(of, root string, parts []string) error {
	// The first pass adds the root alone, the second one the others.
	for _, addsRoot := range []bool{true, false} {
		for i, suffix := range partSuffixes[len(parts)] {
			isRoot := of+suffix == root
			if isRoot != addsRoot {
				continue
			}
			if _, err := p.define(of+suffix, parts[i]); err != nil {
				return err
			}
		}
	}

	return nil
}
