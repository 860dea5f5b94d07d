package record

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/filter"
	"github.com/robotmem/robotmem-go/robotmem/internal/text"
)

// Stale is a value of a context that a text stated before its update, and that the new text states otherwise.
type Stale struct{ Path, Kept, Stated string }

// StaleIn compares a context with the text of a memory before and after an update. A quantity is the same by its value
// in any unit, and a number without a unit only if the text names it as the key of its path does. The text is the
// caller's, and so is the context: neither is derived from the other, and nothing is changed.
func StaleIn(context robotmem.Object, before, after string) (out []Stale) {
	old, now := withoutEqual(before, after)
	if len(old) == 0 || len(now) == 0 {
		return nil
	}

	filter.Walk(context, func(path string, v any, _, _ string) {
		kept := writtenNumber(v)
		values := text.Quantities(kept)
		object, isObject := v.(map[string]any)

		// The number of {value, unit} is visited at its own path, too.
		if len(values) != 1 || isObject && object["value"] != nil && strings.HasSuffix(path, ".value") {
			return
		}
		value := values[0].Base()
		key := path[strings.LastIndexByte(path, '.')+1:]

		for _, was := range old {
			if was.Value != value.Value || was.Unit != value.Unit || value.Unit == "" && !names(was.Name, key) {
				continue
			}
			at := slices.IndexFunc(now, func(q statedQuantity) bool { return q.Name == was.Name && q.Unit == was.Unit })
			if at >= 0 {
				out = append(out, Stale{path, kept, now[at].written})
			}

			return
		}
	})

	slices.SortFunc(out, func(a, b Stale) int { return strings.Compare(a.Path, b.Path) })

	return out
}

// statedQuantity is a quantity in the canonical unit, and as the text states it.
type statedQuantity struct {
	text.Quantity
	written string
}

// withoutEqual are the quantities of two texts that the other one does not have.
func withoutEqual(before, after string) (old, now []statedQuantity) {
	old, now = quantitiesOf(before), quantitiesOf(after)
	has := func(in []statedQuantity) func(statedQuantity) bool {
		return func(q statedQuantity) bool {
			return slices.ContainsFunc(in, func(other statedQuantity) bool { return other.Quantity == q.Quantity })
		}
	}
	kept := slices.DeleteFunc(slices.Clone(old), has(now))

	return kept, slices.DeleteFunc(now, has(old))
}

func quantitiesOf(s string) (out []statedQuantity) {
	for _, q := range text.Quantities(s) {
		out = append(out, statedQuantity{q.Base(), strings.TrimSpace(q.Value + " " + q.Unit)})
	}
	return out
}

// names reports whether the name of a number in a text is the key of a context.
func names(name, key string) bool {
	return name != "" && strings.EqualFold(strings.ReplaceAll(name, "_", ""), strings.NewReplacer("_", "", "-", "").Replace(key))
}

// writtenNumber is a number or a quantity as a text states it, "" for any other value.
func writtenNumber(v any) string {
	switch v := v.(type) {
	case json.Number:
		return v.String()
	case string:
		if _, _, ok := filter.QuantityOf(v); ok {
			return v
		}
	case map[string]any:
		if _, unit, ok := filter.QuantityOf(v); ok {
			return fmt.Sprint(v["value"], " ", unit)
		}
	}

	return ""
}
