package attempts

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/advise"
	"github.com/robotmem/robotmem-go/robotmem/internal/filter"
	"github.com/robotmem/robotmem-go/robotmem/internal/index"
	"github.com/robotmem/robotmem-go/robotmem/spelling"
)

const maxGiven = 8 // states of one question

// adviseStates are the paths that a question names, as the memories spell them.
type adviseStates struct {
	asked      int            // so many states are given, known or not
	given      map[string]any // by path
	parameters map[string]bool
}

// resolve finds the paths that parameters and given mean, among those of the memories, the most
// frequent first, and those in the contexts of sessions.
func (q *advice) resolve(known []string) error {
	ofSessions := map[string]bool{}

	// The columns of these paths are added later, and a request may name them already.
	for _, e := range q.episodes {
		for path := range e.Params {
			ofSessions[path] = !slices.Contains(known, path)
		}
	}

	for _, path := range slices.Sorted(maps.Keys(ofSessions)) {
		if ofSessions[path] {
			known = append(known, path)
		}
	}

	q.stated.parameters = map[string]bool{}
	for _, name := range q.Parameters {
		paths := q.spelt("parameters", name, known)
		if len(paths) == 0 {
			q.note("parameters: no attempt has a number, text or truth value at %s", name)
		}

		for _, path := range paths {
			q.stated.parameters[path] = true
		}
	}

	given, err := givenStates(q.Given)
	if err != nil {
		return err
	}

	q.stated.asked, q.stated.given = len(given), map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		paths := q.spelt("given", name, known)
		if len(paths) == 0 {
			q.note("given: no attempt has a number, text or truth value at %s; the advice does not depend on it", name)
		} else {
			q.stated.given[paths[0]] = given[name]
		}
	}

	return nil
}

// givenStates returns the states of a request by path. A quantity is one state.
func givenStates(given robotmem.Object) (map[string]any, error) {
	// Numbers of any type become json.Number.
	data, err := robotmem.EncodeJSON(given)
	if err != nil {
		return nil, err
	}

	out := map[string]any{}

	var add func(path string, v any)

	add = func(path string, v any) {
		m, isObject := v.(map[string]any)
		if _, unit, isQuantity := filter.QuantityOf(v); isObject && isQuantity {
			v, isObject = fmt.Sprint(m["value"], " ", unit), false
		}
		if !isObject {
			out[path] = v
			return
		}

		for key, below := range m {
			add(path+"."+key, below)
		}
	}
	for key, v := range robotmem.ParseObject(string(data)) {
		add(key, v)
	}

	if len(out) > maxGiven {
		return nil, robotmem.Errorf(robotmem.Invalid, "given", "has %d states; give at most %d", len(out), maxGiven)
	}

	for path, v := range out {
		if plainIn(v, "") == nil {
			return nil, robotmem.Errorf(robotmem.Invalid, "given",
				"needs a number, a quantity, a text or a truth value at %s", path)
		}
	}

	return out, nil
}

// spelt returns the paths that a name means, with or without params before it: those that are spelt
// so, else the most frequent one that differs in case, underscores and spaces only. The paths are the
// most frequent first.
func (q *advice) spelt(field, name string, paths []string) (out []string) {
	for _, path := range paths {
		if path == name || path == paramsPrefix+name {
			out = append(out, path)
		}
	}

	var others []string

	for _, path := range paths {
		loose := spelling.Loose(path)
		if loose != spelling.Loose(name) && loose != paramsPrefix+spelling.Loose(name) || slices.Contains(out, path) {
			continue
		}
		if len(out) == 0 {
			q.note("%s: %s is stored as %s", field, name, path)
			out = append(out, path)
		} else {
			others = append(others, path)
		}
	}

	if len(others) > 0 {
		q.note("%s: %s is also spelt %s, which does not count", field, out[0], strings.Join(others, ", "))
	}

	return out
}

// isParameter reports whether a path is one to advise on.
func (q *advice) isParameter(path string) bool {
	switch {
	case q.stated.given[path] != nil:
		return false
	case len(q.Parameters) > 0:
		return q.stated.parameters[path]
	}

	return strings.HasPrefix(path, paramsPrefix)
}

// parametersFirst moves the columns that came from sessions and are no parameters behind those that
// are, and returns how many are.
func (q *advice) parametersFirst(parameters int) int {
	var first, after []index.Values

	for i, c := range q.columns {
		if i < parameters && q.isParameter(c.Path) {
			first = append(first, c)
		} else {
			after = append(after, c)
		}
	}
	q.columns = slices.Concat(first, after)

	return len(first)
}

// states returns the given states in the units of the columns.
func (q *advice) states() (out []advise.State) {
	for i := range q.columns {
		c := &q.columns[i]
		v, given := q.stated.given[c.Path]
		if !given {
			continue
		}
		if _, bare := v.(json.Number); bare && c.Unit != "" {
			q.note("given: a number without a unit at %s is taken in %s, as most quantities there", c.Path, c.Unit)
		}
		out = append(out, advise.State{Column: i, Value: plainIn(v, c.Unit)})
	}

	return out
}
