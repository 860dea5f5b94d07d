// Package where reads the shorthand of filters: params.grip_force<15N.
package where

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Grammar shows the shorthand in a line.
const Grammar = `PATH=VALUE, !=, <, <=, >, >=, PATH~VALUE (about: within 10 %) or "PATH in A,B", ` +
	`such as params.grip_force<15N`

// about is how far a value may be from the one of ~, as a share of it.
const about = 0.1

// operators by their spelling, with those of a filter. Longer ones come first.
var operators = []struct{ text, name string }{
	{"!=", "$ne"}, {"<=", "$lte"}, {">=", "$gte"}, {"==", "$eq"},
	{"=", "$eq"}, {"<", "$lt"}, {">", "$gt"}, {"~", "~"},
}

var (
	// joined matches another condition behind a value: "true and a<5", "true, a<5".
	joined = regexp.MustCompile(`(?i)(?:\s(?:and|or)\s+|\s*(?:&&|\|\||,)\s*)[\pL_][^\s"'<>=!~,/?&]*(?:\s*(?:[!=<>]=|[=<>~])|\s+in\s)`)
	quoted = regexp.MustCompile(`"[^"]*"|'[^']*'`)
)

// Parse reads conditions that must all hold, and returns them as a context_filter.
func Parse(conditions []string) (filter map[string]any, err error) {
	all := make([]any, len(conditions))
	for i, text := range conditions {
		if all[i], err = parse(text); err != nil {
			return nil, err
		}
	}

	if len(all) == 1 {
		return all[0].(map[string]any), nil
	}

	return map[string]any{"$and": all}, nil
}

// And joins conditions with a context_filter: "" for none, one in short, a list of those as JSON, or an object as JSON.
// Any other filter is returned as it is, so that what reads filters says what is wrong with it.
func And(conditions []string, filter string) (string, error) {
	var list []string
	if json.Unmarshal([]byte(filter), &list) == nil {
		conditions, filter = slices.Concat(conditions, list), ""
	} else if filter != "" && !strings.HasPrefix(strings.TrimSpace(filter), "{") && !json.Valid([]byte(filter)) {
		conditions, filter = append(slices.Clone(conditions), filter), ""
	}
	parsed, err := Parse(conditions)
	if err != nil {
		return "", err
	}

	if filter != "" {
		given := map[string]json.RawMessage{}
		if json.Unmarshal([]byte(filter), &given) != nil {
			return filter, nil //nolint:nilerr // see above
		}
		parsed = map[string]any{"$and": []any{parsed, json.RawMessage(filter)}}
	}

	data, err := json.Marshal(parsed)

	return string(data), err
}

func refuse(text, format string, args ...any) error {
	return fmt.Errorf("%q %s; a condition is %s", text, fmt.Sprintf(format, args...), Grammar)
}

func parse(text string) (map[string]any, error) {
	path, operator, value, found := divide(text)
	switch {
	case !found:
		return nil, refuse(text, "has no operator")
	case path == "":
		return nil, refuse(text, "has no path before %s", operator)
	case strings.ContainsFunc(path, func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune(`"'{}$`, r) }):
		return nil, refuse(text, "has the path %q, and a path is keys joined by dots, such as task.success", path)
	case value == "":
		return nil, refuse(text, `has no value after %s; an empty text is ""`, operator)
	}

	if (operator == "=" || operator == "==") && strings.ContainsRune("<>", rune(value[0])) {
		return nil, refuse(text, "has the operator %s%c; write >= or <=", operator, value[0])
	}
	if joined.MatchString(quoted.ReplaceAllString(value, "text")) {
		return nil, refuse(text, "has several conditions: give each by itself, or put a text in quotes")
	}

	if operator == "in" {
		values, err := list(text, value)
		return map[string]any{path: map[string]any{"$in": values}}, err
	}

	read, err := single(text, value)
	if err != nil {
		return nil, err
	}

	if operator == "~" {
		low, high, ok := around(value)
		if !ok {
			return nil, refuse(text, "compares %s, and ~ is for numbers and quantities such as 15N", value)
		}
		return map[string]any{path: map[string]any{"$gte": low, "$lte": high}}, nil
	}

	return map[string]any{path: map[string]any{named(operator): read}}, nil
}

// divide finds the first operator.
func divide(text string) (path, operator, value string, found bool) {
	for at := range text {
		for _, o := range operators {
			if rest, ok := strings.CutPrefix(text[at:], o.text); ok {
				return strings.TrimSpace(text[:at]), o.text, strings.TrimSpace(rest), true
			}
		}
		if rest, ok := strings.CutPrefix(text[at:], " in "); ok {
			return strings.TrimSpace(text[:at]), "in", strings.TrimSpace(rest), true
		}
	}

	return "", "", "", false
}

// named is the operator of a filter with the spelling.
func named(text string) string {
	for _, o := range operators {
		if o.text == text {
			return o.name
		}
	}

	return "$eq"
}

// single reads a value: true, false, null, a number as JSON spells it, a text in quotes, or any other text, which may be
// a quantity.
func single(text, value string) (any, error) {
	if quote := value[0]; quote == '"' || quote == '\'' {
		if len(value) < 2 || value[len(value)-1] != quote {
			return nil, refuse(text, "has a quote that does not end: %s", value)
		}
		return value[1 : len(value)-1], nil
	}

	// JSON has no "007": it stays a text.
	var read any

	decoder := json.NewDecoder(strings.NewReader(value))
	decoder.UseNumber()
	if err := decoder.Decode(&read); err == nil && !decoder.More() {
		switch read.(type) {
		case json.Number, bool, nil:
			return read, nil
		}
	}

	return value, nil
}

// list reads values with commas between. A comma in quotes belongs to a value.
func list(text, value string) (values []any, err error) {
	var parts []string

	part, quote := "", rune(0)

	for _, r := range strings.TrimSuffix(strings.TrimPrefix(value, "["), "]") {
		switch {
		case r == ',' && quote == 0:
			parts, part = append(parts, part), ""
			continue
		case quote == 0 && (r == '"' || r == '\'') && strings.TrimSpace(part) == "":
			quote = r
		case r == quote:
			quote = 0
		}
		part += string(r)
	}

	for _, one := range append(parts, part) {
		if one = strings.TrimSpace(one); one == "" {
			return nil, refuse(text, "has an empty value in its list")
		}
		read, err := single(text, one)
		if err != nil {
			return nil, err
		}
		values = append(values, read)
	}

	return values, nil
}

// around are the bounds of a value and its unit.
func around(value string) (low, high any, ok bool) {
	end := strings.IndexFunc(value, func(r rune) bool { return !unicode.IsDigit(r) && !strings.ContainsRune("+-.eE", r) })
	if end < 0 {
		end = len(value)
	}
	// The e of 5eV belongs to the unit.
	number, err := strconv.ParseFloat(value[:end], 64)
	for err != nil && end > 0 {
		_, size := utf8.DecodeLastRuneInString(value[:end])
		end -= size
		number, err = strconv.ParseFloat(value[:end], 64)
	}
	if err != nil {
		return nil, nil, false
	}

	unit := strings.TrimSpace(value[end:])
	bound := func(share float64) any {
		// Ten digits are more than any sensor has, and without them 15 N times 1.1 is 16.500000000000004 N.
		n := json.Number(strconv.FormatFloat(number*share, 'g', 10, 64))
		if unit == "" {
			return n
		}
		return string(n) + " " + unit
	}
	if number < 0 {
		return bound(1 + about), bound(1 - about), true
	}

	return bound(1 - about), bound(1 + about), true
}
