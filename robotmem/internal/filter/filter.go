// Package filter reads context filters and applies them to memories.
package filter

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/text"
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
	Kids   []Condition
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
	all := Condition{Op: "$and"}
	if depth > maxFilterDepth {
		return all, badFilter("is nested deeper than %d; flatten it", maxFilterDepth)
	}
	for _, key := range slices.Sorted(maps.Keys(m)) {
		var c Condition
		var err error
		if strings.HasPrefix(key, "$") {
			c, err = p.combine(key, m[key], depth)
		} else {
			c, err = p.field(key, m[key], depth)
		}
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
		c.Kids = []Condition{kid}
		return c, err
	}
	return c, badFilter("unknown operator %q; over conditions there are $and, $or and $not", text.Clip(op, 40))
}

func (p *parser) field(path string, v any, depth int) (Condition, error) {
	m, ok := v.(map[string]any)
	if !ok || !hasOperator(m) {
		return p.leaf("$eq", path, v)
	}
	if depth++; depth > maxFilterDepth {
		return Condition{}, badFilter("is nested deeper than %d; flatten it", maxFilterDepth)
	}
	all := Condition{Op: "$and"}
	for _, op := range slices.Sorted(maps.Keys(m)) {
		var c Condition
		var err error
		if op == "$not" {
			var kid Condition
			kid, err = p.field(path, m[op], depth)
			c = Condition{Op: "$not", Kids: []Condition{kid}}
		} else {
			c, err = p.leaf(op, path, m[op])
		}
		if err != nil {
			return all, err
		}
		all.Kids = append(all.Kids, c)
	}
	return all, nil
}

func hasOperator(m map[string]any) bool {
	for k := range m {
		if strings.HasPrefix(k, "$") {
			return true
		}
	}
	return false
}

func (p *parser) leaf(op, path string, v any) (Condition, error) {
	if p.conditions++; p.conditions > maxConditions {
		return Condition{}, badFilter("has more than %d conditions", maxConditions)
	}
	c := Condition{Op: op, Path: path}
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
		return c, badFilter("unknown operator %q at %s; there are $eq $ne $lt $lte $gt $gte $in $nin $exists $and $or $not", text.Clip(op, 40), path)
	}
	return c.positive(), nil
}

// derived turns a condition on a success flag into one on the outcome of the memory, which is derived
// from the flag, from other spellings of it, or stated by the caller.
func derived(op, path string, v any) (string, any) {
	if path != "outcome" && path != "task.success" && path != "success" {
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
	switch {
	case op == "$exists":
		return path, v
	case isList:
		return "outcome", out
	}
	return "outcome", out[0]
}

// operands are the values to compare with: v, and for a quantity its number in the canonical unit.
func operands(v any) []any {
	out := []any{attributeValue(v)}
	if q, ok := QuantityOf(v); ok {
		out = append(out, q)
	}
	return out
}

// positive rewrites operators that match a missing path as the negation of ones that do not.
func (c Condition) positive() Condition {
	negate := func(op string) Condition {
		c.Op = op
		return Condition{Op: "$not", Kids: []Condition{c}}
	}
	switch {
	case c.Op == "$ne":
		return negate("$eq")
	case c.Op == "$nin":
		return negate("$in")
	case c.Op == "$exists" && !c.exists:
		c.exists = true
		return negate("$exists")
	}
	return c
}

// OwnField reports whether a path is a field of the memory, which wins over a key of that name.
func OwnField(path string) bool {
	return slices.Contains([]string{"category", "confidence", "perception_type", "session_id", "observed_at", "outcome", "tier"}, path)
}

// View is a memory as filters see it.
type View struct {
	Context        robotmem.Object
	Category       string
	PerceptionType string
	Session        string
	Confidence     float64 // as it stands now
	Observed       time.Time
	Outcome        string // success, failure, partial or unknown
	Tier           string // new, proven, mixed or suspect
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
	if c.Path == "observed_at" {
		return c.MatchTime(v.Observed.UnixNano())
	}
	if c.Op == "$exists" && c.Path == "outcome" {
		return v.Outcome != robotmem.OutcomeUnknown
	}
	if c.Op == "$exists" && !OwnField(c.Path) {
		return pathExists(v.Context, c.Path)
	}
	return slices.ContainsFunc(v.values(c.Path), c.Holds)
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

// values are those at a path: none, one, or several where a key holds dots.
func (v *View) values(path string) []any {
	text := func(s string) []any {
		if s == "" {
			return nil
		}
		return []any{s}
	}
	switch path {
	case "category":
		return text(v.Category)
	case "perception_type":
		return text(v.PerceptionType)
	case "session_id":
		return text(v.Session)
	case "outcome":
		return text(v.Outcome)
	case "tier":
		return text(v.Tier)
	case "confidence":
		return []any{v.Confidence}
	}
	var out []any
	collect(v.Context, path, &out)
	return out
}

func collect(m map[string]any, path string, out *[]any) {
	if v, ok := m[path]; ok {
		*out = append(*out, operands(v)...)
	}
	for i := range len(path) {
		if path[i] == '.' {
			if sub, ok := m[path[:i]].(map[string]any); ok {
				collect(sub, path[i+1:], out)
			}
		}
	}
}

// Holds applies a leaf to one value.
func (c *Condition) Holds(value any) bool {
	switch c.Op {
	case "$exists":
		return true
	case "$eq", "$in":
		return slices.ContainsFunc(c.Values, func(w any) bool { return equalValues(value, w) })
	}
	order, ok := CompareValues(value, c.Values[0])
	return ok && orderHolds(c.Op, order)
}

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

// MatchTime compares instants. An operand that is not a time matches nothing.
func (c *Condition) MatchTime(observed int64) bool {
	if c.Op == "$exists" {
		return true
	}
	for _, v := range c.Values {
		s, isText := v.(string)
		t, err := time.Parse(time.RFC3339Nano, s)
		if !isText || err != nil {
			continue
		}
		order := time.Unix(0, observed).Compare(t)
		if (c.Op == "$eq" || c.Op == "$in") && order == 0 || orderHolds(c.Op, order) {
			return true
		}
	}
	return false
}

// Paths appends every path of the filter.
func (c *Condition) Paths(into []string) []string {
	if c == nil {
		return into
	}
	if c.Path != "" {
		into = append(into, c.Path)
	}
	for i := range c.Kids {
		into = c.Kids[i].Paths(into)
	}
	return into
}

// NamesObject reports whether a leaf compares with an object, which a value column does not hold.
func (c *Condition) NamesObject() bool {
	return (c.Op == "$eq" || c.Op == "$in") && slices.ContainsFunc(c.Values, func(v any) bool {
		b, ok := v.([]byte)
		return ok && strings.HasPrefix(string(b), BlobObject)
	})
}
