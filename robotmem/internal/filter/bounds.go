package filter

import (
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/units"
)

// TextBound returns the bound of $lt, $lte, $gt or $gte if it is a text that is no number, no quantity and no time,
// so that it has an order among texts only.
func (c *Condition) TextBound() (bound string, ok bool) {
	if !c.orders() {
		return "", false
	}
	bound, ok = c.Values[0].(string)

	return bound, ok
}

// AskedText returns the text that a leaf compares with, of several the first, unless it is a number or a quantity.
func (c *Condition) AskedText() (asked string, ok bool) {
	for i, v := range c.Values {
		asked, ok = v.(string)
		if !ok {
			continue
		}
		// The number of a text stands behind it.
		if i+1 < len(c.Values) {
			_, spelt := c.Values[i+1].(Spelt)
			ok = !spelt && !isQuantity(c.Values[i+1])
		}
		if ok {
			return asked, true
		}
	}

	return "", false
}

// Unit returns the canonical unit of the quantity that a leaf compares with, of several the first, "" if there is none.
func (c *Condition) Unit() string {
	for _, v := range c.Values {
		if q, ok := v.(units.Quantity); ok {
			return q.Unit
		}
	}
	return ""
}

// orders reports whether a leaf is $lt, $lte, $gt or $gte.
func (c *Condition) orders() bool {
	switch c.Op {
	case "$lt", "$lte", "$gt", "$gte":
		return true
	}
	return false
}

// NotOrdered returns the error of a bound that is a text at a path whose values are all numbers, in a unit or with "" in
// none: no order holds between them, so that the condition could only mislead.
func (c *Condition) NotOrdered(bound, unit string) error {
	kind, example := "number", "9.5"
	if unit != "" {
		kind, example = "quantity", "9.5 "+unit
	}

	return notOrdered(c.Path, bound, kind, fmt.Sprintf("%q", example))
}

func notOrdered(path, bound, kind, example string) error {
	return badFilter("at %s compares with %q, which is no %s%s; write one such as %s",
		path, robotmem.Clip(bound, 60), kind, MeantBy(bound), example)
}

// MeantBy asks whether a text with a decimal comma means its number: (did you mean "9.5 N"?). It is "" for other texts.
func MeantBy(text string) string {
	if meant := withPoint(text); meant != "" {
		return fmt.Sprintf(" (did you mean %q?)", meant)
	}
	return ""
}

// ownBound refuses a text as a bound that has no order with a field of the memory, whose kind is known without looking.
func (c *Condition) ownBound(written any) error {
	bound, isText := written.(string)
	if !isText || !c.orders() {
		return nil
	}

	_, isNumber := Number(c.Values[0])
	_, isTime := c.Values[0].(time.Time)

	switch {
	case c.Path == "confidence" && !isNumber:
		return notOrdered(c.Path, bound, "number", "0.8")
	case c.Path == "observed_at" && !isTime:
		return notOrdered(c.Path, bound, "time", `"2026-05-01T08:00:00Z"`)
	}

	return nil
}

// commaNumber is how a text with a decimal comma begins: 9,5 N.
var commaNumber = regexp.MustCompile(`^\s*([-+]?\d+)[,٫](\d+)`)

// withPoint spells the number or the quantity of a text with a decimal comma with a point. It is "" for other texts.
func withPoint(text string) string {
	meant := strings.TrimSpace(commaNumber.ReplaceAllString(text, "$1.$2"))
	if meant == strings.TrimSpace(text) {
		return ""
	}
	if _, isNumber := speltNumber(meant); isNumber {
		return meant
	}
	if _, isQuantity := units.Parse(meant); isQuantity {
		return meant
	}

	return ""
}

func isQuantity(v any) bool {
	_, ok := v.(units.Quantity)
	return ok
}
