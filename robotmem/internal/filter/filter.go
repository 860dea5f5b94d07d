// Package filter reads context filters and applies them to memories.
package filter

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
)

const (
	maxConditions  = 32
	maxFilterDepth = 8
)

// Condition is a node of a filter: a leaf compares the values at a path, other nodes combine.
type Condition struct {
	Op   string // "$eq", "$lt", …; "$and", "$or", "$not"
	Path string
	// Values are the operands as stored, quantities as units.Quantity.
	Values []any
	exists bool
	// possible makes a comparison hold also where it cannot be decided, because the value
	// is of another kind: its $not then holds where the comparison is false.
	possible bool
	Kids     []Condition
}

// Parse reads a context_filter. A nil result admits everything.
func Parse(filter robotmem.Object) (*Condition, error) {
	if len(filter) == 0 {
		return nil, nil
	}
	filter, _, err := filter.Normalize("context_filter", robotmem.MaxContext)
	if err != nil {
		return nil, err
	}
	p := &parser{}
	c, err := p.object(filter, 1)
	if err != nil {
		return nil, err
	}

	return &c, nil
}

type parser struct{ conditions int }

func badFilter(format string, args ...any) error {
	return robotmem.Errorf(robotmem.Invalid, "context_filter", format, args...)
}

func (p *parser) object(m map[string]any, depth int) (Condition, error) {
	return every(m, depth, func(key string) (Condition, error) {
		if strings.HasPrefix(key, "$") {
			return p.combine(key, m[key], depth)
		}
		return p.field(key, m[key], depth)
	})
}

// every combines the conditions of all keys.
func every(m map[string]any, depth int, parse func(key string) (Condition, error)) (Condition, error) {
	all := Condition{Op: "$and"}
	if depth > maxFilterDepth {
		return all, badFilter("is nested deeper than %d; flatten it", maxFilterDepth)
	}

	for _, key := range slices.Sorted(maps.Keys(m)) {
		c, err := parse(key)
		if err != nil {
			return all, err
		}
		all.Kids = append(all.Kids, c)
	}

	return all, nil
}

func (p *parser) combine(op string, v any, depth int) (Condition, error) {
	c := Condition{Op: op}
	switch op {
	case "$and", "$or":
		list, ok := v.([]any)
		if !ok || len(list) == 0 {
			return c, badFilter("%s takes a list of conditions, such as {\"%s\":[{\"a\":1},{\"b\":2}]}", op, op)
		}

		for _, item := range list {
			m, ok := item.(map[string]any)
			if !ok {
				return c, badFilter("%s takes a list of objects", op)
			}
			kid, err := p.object(m, depth+1)
			if err != nil {
				return c, err
			}
			c.Kids = append(c.Kids, kid)
		}

		return c, nil
	case "$not":
		m, ok := v.(map[string]any)
		if !ok {
			return c, badFilter("$not takes an object")
		}
		kid, err := p.object(m, depth+1)
		return kid.negated(), err
	}

	return c, badFilter("unknown operator %q; over conditions there are $and, $or and $not", robotmem.Clip(op, 40))
}

func (p *parser) field(path string, v any, depth int) (Condition, error) {
	m, ok := v.(map[string]any)
	if !ok ||
		!slices.ContainsFunc(slices.Collect(maps.Keys(m)), func(k string) bool { return strings.HasPrefix(k, "$") }) {
		return p.leaf("$eq", path, v)
	}

	return every(m, depth+1, func(op string) (Condition, error) {
		if op != "$not" {
			return p.leaf(op, path, m[op])
		}
		kid, err := p.field(path, m[op], depth+1)
		return kid.negated(), err
	})
}

func (p *parser) leaf(op, path string, v any) (Condition, error) {
	c := Condition{Op: op, Path: path}
	if p.conditions++; p.conditions > maxConditions {
		return c, badFilter("has more than %d conditions", maxConditions)
	}

	path, v = derived(op, path, v)
	c.Path = path

	switch op {
	case "$eq", "$ne":
		c.Values = operands(v)
	case "$lt", "$lte", "$gt", "$gte":
		// The order of a quantity is that of its numbers, never that of its text.
		all := operands(v)
		c.Values = all[len(all)-1:]
	case "$in", "$nin":
		list, ok := v.([]any)
		if !ok {
			return c, badFilter("%s at %s takes a list", op, path)
		}

		for _, item := range list {
			c.Values = append(c.Values, operands(item)...)
		}
	case "$exists":
		var ok bool
		if c.exists, ok = v.(bool); !ok {
			return c, badFilter("$exists at %s takes true or false", path)
		}
	default:
		return c, badFilter("unknown operator %q at %s; there are $eq $ne $lt $lte $gt $gte $in $nin $exists $and $or $not", robotmem.Clip(op, 40), path)
	}

	if path == "observed_at" {
		for i := range c.Values {
			text, _ := c.Values[i].(string)
			if t, err := time.Parse(time.RFC3339Nano, text); err == nil {
				c.Values[i] = t
			}
		}
	}

	if err := c.ownBound(v); err != nil {
		return c, err
	}

	return c.positive(), nil
}

// derived turns a condition on a success flag into one on the outcome of the memory, which is derived
// from the flag, from other spellings of it, or stated by the caller.
func derived(op, path string, v any) (string, any) {
	if op == "$exists" || path != "outcome" && path != "task.success" && path != "success" {
		return path, v
	}

	list, isList := v.([]any)
	if !isList {
		list = []any{v}
	}

	out := make([]any, len(list))
	for i := range list {
		switch flag, isFlag := list[i].(bool); {
		case isFlag && flag:
			out[i] = robotmem.OutcomeSuccess
		case isFlag:
			out[i] = robotmem.OutcomeFailure
		case path != "outcome":
			return path, v
		default:
			out[i] = list[i]
		}
	}

	if isList {
		return "outcome", out
	}

	return "outcome", out[0]
}

// operands are the values to compare with: v, and for a quantity its number in the
// canonical unit, for a text that is a number this number.
func operands(v any) []any {
	out := []any{attributeValue(v)}
	if q, _, ok := QuantityOf(v); ok {
		out = append(out, q)
	} else if n, ok := speltNumber(v); ok {
		out = append(out, n)
	}

	return out
}

// negated returns the condition that holds where c is false. It has $not over single
// comparisons only, so that one that cannot be decided holds in neither.
func (c Condition) negated() Condition {
	switch c.Op {
	case "$and", "$or":
		kids := make([]Condition, len(c.Kids))
		for i := range kids {
			kids[i] = c.Kids[i].negated()
		}
		return Condition{Op: map[string]string{"$and": "$or", "$or": "$and"}[c.Op], Kids: kids}
	case "$not":
		c = c.Kids[0]
		c.possible = false
		return c
	}
	// Values of different kinds have no order, but they are unequal.
	c.possible = c.Op[1] == 'l' || c.Op[1] == 'g'

	return Condition{Op: "$not", Kids: []Condition{c}}
}

// positive rewrites operators that match a missing path as the negation of ones that do not.
func (c Condition) positive() Condition {
	switch {
	case c.Op == "$ne":
		c.Op = "$eq"
	case c.Op == "$nin":
		c.Op = "$in"
	case c.Op == "$exists" && !c.exists:
		c.exists = true
	default:
		return c
	}

	return c.negated()
}

// EpisodeOutcome is the path of the outcome of a memory's episode; an episode without one has no value there.
const EpisodeOutcome = "session.outcome"

// ownFields are the fields of the memory.
var ownFields = map[string]func(*View) any{
	"category":        func(v *View) any { return v.Category },
	"perception_type": func(v *View) any { return v.PerceptionType },
	"session_id":      func(v *View) any { return v.SessionID },
	"outcome":         func(v *View) any { return v.Outcome },
	EpisodeOutcome:    func(v *View) any { return v.EpisodeOutcome },
	"tier":            func(v *View) any { return v.Tier },
	"confidence":      func(v *View) any { return v.Confidence },
	"observed_at":     func(v *View) any { return v.ObservedAt },
}

// OwnField reports whether a path is a field of the memory, which wins over a key of that name.
func OwnField(path string) bool { return ownFields[path] != nil }

// View is a memory as filters see it.
type View struct {
	*robotmem.Memory // its confidence as it stands now
	// Unit returns the unit of a number without one at a path, "" if it has none.
	Unit func(path string) string
}

// Match applies the condition to a memory.
func (c *Condition) Match(v *View) bool {
	switch c.Op {
	case "$and":
		return !slices.ContainsFunc(c.Kids, func(kid Condition) bool { return !kid.Match(v) })
	case "$or":
		return slices.ContainsFunc(c.Kids, func(kid Condition) bool { return kid.Match(v) })
	case "$not":
		return !c.Kids[0].Match(v)
	}

	if own := ownFields[c.Path]; own != nil {
		return c.HoldsOwn(own(v))
	}
	if c.Op == "$exists" {
		return pathExists(v.Context, c.Path)
	}

	values := valuesAt(v.Context, c.Path)
	if len(values) == 0 {
		return c.possible && pathExists(v.Context, c.Path)
	}

	return c.Holds(values, func() string {
		if v.Unit == nil {
			return ""
		}
		return v.Unit(c.Path)
	})
}

// pathExists reports whether a context has a value at a path or below, also under a key with dots.
func pathExists(context robotmem.Object, path string) bool {
	found := false
	Walk(context, func(at string, _ any, _, _ string) {
		rest, ok := strings.CutPrefix(at, path)
		found = found || ok && (rest == "" || rest[0] == '.')
	})
	return found
}

// HoldsOwn applies a leaf to a field of the memory: a text, where "" is no value, a number or
// a time.
func (c *Condition) HoldsOwn(value any) bool {
	if value == "" || c.Op == "$exists" && c.Path == "outcome" && value == robotmem.OutcomeUnknown {
		return false
	}
	return c.Holds([]any{value}, func() string { return "" })
}

// valuesAt are those at a path: none, one, or several where a key holds dots.
func valuesAt(context robotmem.Object, path string) (out []any) {
	var all []any
	collect(context, path, &all)

	for _, v := range all {
		out = append(out, operands(v)...)
	}

	return out
}

// collect appends the values at a path.
func collect(m map[string]any, path string, out *[]any) {
	if v, ok := measured(m, path); ok {
		*out = append(*out, v)
	}

	for i := range len(path) {
		if path[i] == '.' {
			if sub, ok := m[path[:i]].(map[string]any); ok {
				collect(sub, path[i+1:], out)
			}
		}
	}
}

// Holds applies a leaf to the values at its path. unit returns the unit of a number without one.
func (c *Condition) Holds(values []any, unit func() string) bool {
	switch c.Op {
	case "$exists":
		return true
	case "$eq", "$in":
		return slices.ContainsFunc(values, func(v any) bool {
			return slices.ContainsFunc(c.Values, func(w any) bool { return equalValues(v, w, unit) })
		})
	}

	decided := false

	for i, v := range values {
		// What stands before the number of a quantity is its text, whose order is another one.
		if i+1 < len(values) && isQuantity(values[i+1]) && !isQuantity(v) {
			continue
		}
		order, ok := compareValues(v, c.Values[0], unit)
		if ok && orderHolds(c.Op, order) {
			return true
		}
		decided = decided || ok
	}

	return c.possible && !decided
}

// orderHolds applies $lt, $lte, $gt or $gte.
func orderHolds(op string, order int) bool {
	switch op {
	case "$lt":
		return order < 0
	case "$lte":
		return order <= 0
	case "$gt":
		return order > 0
	case "$gte":
		return order >= 0
	}

	return false
}

// Leaves visits every comparison of the filter.
func (c *Condition) Leaves(visit func(*Condition)) {
	switch {
	case c == nil:
	case c.Path != "":
		visit(c)
	default:
		for i := range c.Kids {
			c.Kids[i].Leaves(visit)
		}
	}
}

// Required visits the comparisons that hold for every memory that passes: not the alternatives of $or, and not what must
// not hold.
func (c *Condition) Required(visit func(*Condition)) {
	switch {
	case c == nil || c.Op == "$not" || c.Op == "$or" && len(c.Kids) > 1:
	case c.Path != "":
		visit(c)
	default:
		for i := range c.Kids {
			c.Kids[i].Required(visit)
		}
	}
}

// Paths returns every path of the filter.
func (c *Condition) Paths() (paths []string) {
	c.Leaves(func(leaf *Condition) { paths = append(paths, leaf.Path) })
	return paths
}

// NamesObject reports whether a leaf compares with an object, which a value column does not hold.
func (c *Condition) NamesObject() bool {
	return (c.Op == "$eq" || c.Op == "$in") && slices.ContainsFunc(c.Values, func(v any) bool {
		b, ok := v.([]byte)
		return ok && strings.HasPrefix(string(b), BlobObject)
	})
}
