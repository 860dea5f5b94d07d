package local

import (
	"slices"
	"strings"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
)

// A context_filter is parsed once into a tree of conditions. The tree is
// answered from the indexes (store_filter.go), and can also be put to a single
// memory (match), which is how a past state is filtered and how the indexes
// are tested.

const (
	maxConditions  = 32
	maxFilterDepth = 8
)

// condition is one node: a leaf compares the values at a path, the others
// combine.
type condition struct {
	op   string // "$eq", "$lt", …; "$and", "$or", "$not"
	path string
	// values are the operands as stored, quantities as units.Quantity: one, or
	// several for $in.
	values []any
	exists bool
	kids   []condition
}

// parseFilter reads a context_filter. A nil result admits everything.
func parseFilter(filter robotmem.Object) (*condition, error) {
	if len(filter) == 0 {
		return nil, nil
	}
	filter, _, err := filter.Normalize("context_filter", robotmem.MaxContext)
	if err != nil {
		return nil, err
	}
	p := &filterParser{}
	c, err := p.object(filter, 1)
	if err != nil {
		return nil, err
	}
	return &c, nil
}

type filterParser struct{ conditions int }

func badFilter(format string, args ...any) error {
	return robotmem.Errorf(robotmem.Invalid, "context_filter", format, args...)
}

func (p *filterParser) object(m map[string]any, depth int) (condition, error) {
	all := condition{op: "$and"}
	if depth > maxFilterDepth {
		return all, badFilter("is nested deeper than %d; flatten it", maxFilterDepth)
	}
	for _, key := range sortedKeys(m) {
		var c condition
		var err error
		if strings.HasPrefix(key, "$") {
			c, err = p.combine(key, m[key], depth)
		} else {
			c, err = p.field(key, m[key], depth)
		}
		if err != nil {
			return all, err
		}
		all.kids = append(all.kids, c)
	}
	return all, nil
}

func (p *filterParser) combine(op string, v any, depth int) (condition, error) {
	c := condition{op: op}
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
			c.kids = append(c.kids, kid)
		}
		return c, nil
	case "$not":
		m, ok := v.(map[string]any)
		if !ok {
			return c, badFilter("$not takes an object")
		}
		kid, err := p.object(m, depth+1)
		c.kids = []condition{kid}
		return c, err
	}
	return c, badFilter("unknown operator %q; over conditions there are $and, $or and $not", clip(op, 40))
}

func (p *filterParser) field(path string, v any, depth int) (condition, error) {
	m, ok := v.(map[string]any)
	if !ok || !hasOperator(m) {
		return p.leaf("$eq", path, v)
	}
	if depth++; depth > maxFilterDepth {
		return condition{}, badFilter("is nested deeper than %d; flatten it", maxFilterDepth)
	}
	all := condition{op: "$and"}
	for _, op := range sortedKeys(m) {
		var c condition
		var err error
		if op == "$not" {
			var kid condition
			kid, err = p.field(path, m[op], depth)
			c = condition{op: "$not", kids: []condition{kid}}
		} else {
			c, err = p.leaf(op, path, m[op])
		}
		if err != nil {
			return all, err
		}
		all.kids = append(all.kids, c)
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

func (p *filterParser) leaf(op, path string, v any) (condition, error) {
	if p.conditions++; p.conditions > maxConditions {
		return condition{}, badFilter("has more than %d conditions", maxConditions)
	}
	c := condition{op: op, path: path}
	switch op {
	case "$eq", "$ne":
		c.values = operands(v)
	case "$lt", "$lte", "$gt", "$gte":
		// The order of a quantity is that of its numbers, never that of its text.
		all := operands(v)
		c.values = all[len(all)-1:]
	case "$in", "$nin":
		list, ok := v.([]any)
		if !ok {
			return c, badFilter("%s at %s takes a list", op, path)
		}
		for _, item := range list {
			c.values = append(c.values, operands(item)...)
		}
	case "$exists":
		var ok bool
		if c.exists, ok = v.(bool); !ok {
			return c, badFilter("$exists at %s takes true or false", path)
		}
	default:
		return c, badFilter("unknown operator %q at %s; there are $eq $ne $lt $lte $gt $gte $in $nin $exists $and $or $not", clip(op, 40), path)
	}
	return c.positive(), nil
}

// operands are what a value is compared with: itself, and if it is a quantity
// its number in the canonical unit.
func operands(v any) []any {
	out := []any{attributeValue(v)}
	if q, ok := quantityOf(v); ok {
		out = append(out, q)
	}
	return out
}

// positive rewrites the operators that a missing path matches as the negation
// of those that it does not.
func (c condition) positive() condition {
	negate := func(op string) condition {
		c.op = op
		return condition{op: "$not", kids: []condition{c}}
	}
	switch {
	case c.op == "$ne":
		return negate("$eq")
	case c.op == "$nin":
		return negate("$in")
	case c.op == "$exists" && !c.exists:
		c.exists = true
		return negate("$exists")
	}
	return c
}

func sortedKeys(m map[string]any) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// ownField reports whether a path names a field of the memory itself, which
// wins over a context key of the same name.
func ownField(path string) bool {
	switch path {
	case "category", "confidence", "perception_type", "session_id", "observed_at":
		return true
	}
	return false
}

// view is one memory, as a filter sees it.
type view struct {
	context        robotmem.Object
	category       string
	perceptionType string
	session        string
	confidence     float64 // as it stands now
	observed       time.Time
}

// match puts the condition to one memory.
func (c *condition) match(v *view) bool {
	switch c.op {
	case "$and":
		for i := range c.kids {
			if !c.kids[i].match(v) {
				return false
			}
		}
		return true
	case "$or":
		for i := range c.kids {
			if c.kids[i].match(v) {
				return true
			}
		}
		return false
	case "$not":
		return !c.kids[0].match(v)
	}
	if c.path == "observed_at" {
		return c.matchTime(v.observed.UnixNano())
	}
	if c.op == "$exists" && !ownField(c.path) {
		return pathExists(v.context, c.path)
	}
	for _, value := range v.values(c.path) {
		if c.holds(value) {
			return true
		}
	}
	return false
}

// pathExists reports whether a context has a value at a path or below it. A key
// that holds dots itself counts as the path that it spells.
func pathExists(context robotmem.Object, path string) bool {
	attrs, _ := flatten(context)
	return slices.ContainsFunc(attrs, func(a attribute) bool {
		rest, ok := strings.CutPrefix(a.path, path)
		return ok && (rest == "" || rest[0] == '.')
	})
}

// values are those at a path: none, one, or several where a key holds dots.
func (v *view) values(path string) []any {
	text := func(s string) []any {
		if s == "" {
			return nil
		}
		return []any{s}
	}
	switch path {
	case "category":
		return text(v.category)
	case "perception_type":
		return text(v.perceptionType)
	case "session_id":
		return text(v.session)
	case "confidence":
		return []any{v.confidence}
	}
	var out []any
	collect(v.context, path, &out)
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

// holds puts a leaf to one value.
func (c *condition) holds(value any) bool {
	switch c.op {
	case "$exists":
		return true
	case "$eq", "$in":
		return slices.ContainsFunc(c.values, func(w any) bool { return equalValues(value, w) })
	}
	order, ok := compareValues(value, c.values[0])
	return ok && orderHolds(c.op, order)
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

// matchTime compares instants: the operands are times as text. What is no time
// matches nothing.
func (c *condition) matchTime(observed int64) bool {
	if c.op == "$exists" {
		return true
	}
	for _, v := range c.values {
		s, isText := v.(string)
		t, err := time.Parse(time.RFC3339Nano, s)
		if !isText || err != nil {
			continue
		}
		order := time.Unix(0, observed).Compare(t)
		if (c.op == "$eq" || c.op == "$in") && order == 0 || orderHolds(c.op, order) {
			return true
		}
	}
	return false
}
