package web_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/web"
)

// leaks are what formats print of a missing value, of a wrong verb and of a pointer.
var leaks = regexp.MustCompile(`<nil>|%!|\(\*[a-z]+\.|0xc0[0-9a-f]{6,}|runtime error|&\{`)

// badValues are values of all forms, most of which no field takes. A node fills some of them in.
var badValues = []string{
	`null`, `""`, `" "`, `"\u0000"`, `"x"`, `"-"`, `"NaN"`, `"2026-13-41"`, `"9999-12-31T23:59:59Z"`, `"0000-01-01"`, `0`, `-1`, `1.5`, `1e400`, `-1e-400`, `9223372036854775808`, `4711`,
	`true`, `[]`, `[null]`, `[""]`, `[-1]`, `[1,2,3,4,5]`, `["x","x"]`, `[[]]`, `[{}]`, `{}`, `{"":null}`, `{"a":null}`, `{"a":[null]}`, `{"$lt":null}`, `{"$and":null}`, `{"$and":[null]}`, `{"a":{"$in":null}}`,
	`{"a":{"$near":null}}`, `{"value":null,"unit":"N"}`, `{"field":null}`, `{"field":"a","target":null}`, `{"field":"a","target":[null]}`, `{"memory_id":null}`, `{"memory_id":4711}`, `{"data":null}`, `{"from":null}`,
	`"text"`, `"flag"`, `"nothing"`, `"list"`, `"object"`, `"quantity"`, `"-quantities"`, `["text","flag","nothing","list","object","quantity","quantities"]`,
}

// Whatever a request holds, the answer names the fault in words.
func TestErrorTextsShowNoGoValues(t *testing.T) {
	t.Parallel()
	n, base := serveNode(t, web.Options{})
	for _, context := range []robotmem.Object{
		{"text": "slow", "flag": true, "nothing": nil, "list": []any{1, "a"}, "object": map[string]any{}, "quantity": "3 N", "quantities": map[string]any{"value": 3, "unit": "mm"}},
		{"x": []any{nil}, "task": map[string]any{"success": true}},
	} {
		if _, err := n.Learn(t.Context(), &robotmem.LearnRequest{Insight: "the gripper slipped", Context: context}); err != nil {
			t.Fatal(err)
		}
	}
	seen := 0
	ask := func(op *robotmem.Op, members map[string]json.RawMessage) {
		t.Helper()
		path := op.Path()
		for name, value := range members {
			if wild := "{" + name + "}"; strings.Contains(path, wild) {
				path = strings.ReplaceAll(path, wild, url.PathEscape(strings.Trim(string(value), `"`)))
				delete(members, name)
			}
		}
		path = regexp.MustCompile(`\{[a-z_]+\}`).ReplaceAllString(path, "1")
		var body []byte
		if op.Method() == http.MethodGet {
			query := url.Values{}
			for name, value := range members {
				query.Set(name, strings.Trim(string(value), `"`))
			}
			path += "?" + query.Encode()
		} else {
			body = encoded(members)
		}
		res, text := askBody(t, op.Method(), base+path, string(body), "Content-Type: application/json")
		if res.StatusCode >= 400 {
			seen++
		}
		if found := leaks.FindString(text); found != "" && res.StatusCode >= 400 {
			t.Errorf("%s %s %s: %d, with %q in %s", op.Method(), path, body, res.StatusCode, found, text)
		}
		if res.StatusCode == http.StatusInternalServerError {
			t.Errorf("%s %s %s: %s", op.Method(), path, body, text)
		}
	}

	for _, op := range robotmem.Ops() {
		if op.Route == "" || op.Name == "repair" || op.Name == "reembed" {
			continue
		}
		for _, field := range reflect.VisibleFields(op.In) {
			name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
			if name == "" || name == "-" {
				continue
			}
			for _, value := range badValues {
				members := validRequest(op.Name)
				members[name] = json.RawMessage(value)
				ask(op, members)
			}
		}
	}
	if seen < 1000 {
		t.Errorf("only %d requests were refused: the test asks for what is allowed", seen)
	}
}

// validRequest are the required members of a request.
func validRequest(op string) map[string]json.RawMessage {
	text := json.RawMessage(`"the gripper slipped"`)
	switch op {
	case "learn":
		return map[string]json.RawMessage{"insight": text}
	case "save_perception":
		return map[string]json.RawMessage{"description": text, "perception_type": json.RawMessage(`"tactile"`), "data": text}
	case "recall", "briefing":
		return map[string]json.RawMessage{"query": text}
	case "update":
		return map[string]json.RawMessage{"new_content": text}
	case "forget":
		return map[string]json.RawMessage{"reason": text}
	}
	return map[string]json.RawMessage{}
}

// encoded is a request as JSON, also with values that are none.
func encoded(members map[string]json.RawMessage) []byte {
	var parts []string
	for name, value := range members {
		parts = append(parts, `"`+name+`":`+string(value))
	}
	return []byte("{" + strings.Join(parts, ",") + "}")
}
