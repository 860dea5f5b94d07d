package workers_test

import (
	"testing"

	"github.com/robotmem/robotmem-go/robotmem/agent/workers"
)

// A model that leaves out a "not", or puts one in, is not believed, although all of its words stand in the source.
func TestFactsKeepTheirNegation(t *testing.T) {
	for _, tt := range []struct {
		turn, fact, quote string
		taken             bool
	}{
		{"Robot a2 can not lift the crate.", "Robot a2 can lift the crate.", "lift the crate", false},
		{"The rover never enters hall B at night.", "The rover enters hall B at night.", "enters hall B at night", false},
		{"Robot a3 lifts the crate of steel.", "Robot a3 does not lift the crate of steel.", "lifts the crate of steel", false},
		{"叉车不能进入三号仓库。", "叉车能进入三号仓库", "进入三号仓库", false},
		{"Robot a4 can not lift the barrel.", "Robot a4 cannot lift the barrel.", "can not lift the barrel", true},
		{"It does not rain, and the charger stands in hall 4.", "The charger stands in hall 4.", "charger stands in hall 4", true},
		{"On robot a1 grip force 25 N holds a wet glass", "Grip force 25 N holds a wet glass on robot a1", "grip force 25 N holds a wet glass", true},
	} {
		node, m := memory(t), &scripted{}
		m.add(workers.TaskExtract, tt.turn, factsJSON(tt.fact, tt.quote))
		r := extract(t, &workers.Workers{Node: node, Model: m}, tt.turn)
		if taken := len(r.Added) == 1; taken != tt.taken {
			t.Errorf("%q: %+v", tt.fact, r)
		}
	}
}

// The opposite of a fact is not the same, whatever the model says.
func TestTheOppositeIsNotTheSame(t *testing.T) {
	node, m := memory(t), &scripted{}
	w := &workers.Workers{Node: node, Model: m}
	m.add(workers.TaskExtract, "not lift the barrel", factsJSON("Robot a4 does not lift the barrel.", "does not lift the barrel"))
	m.add(workers.TaskExtract, "lifts the barrel", factsJSON("Robot a4 lifts the barrel.", "lifts the barrel"))
	m.add(workers.TaskReconcile, "", `{"action":"same","n":1}`)

	if r := extract(t, w, "Robot a4 lifts the barrel."); len(r.Added) != 1 {
		t.Fatalf("%+v", r)
	}
	if r := extract(t, w, "Robot a4 does not lift the barrel."); len(r.Added) != 1 || r.Refused != 1 {
		t.Errorf("%+v", r)
	}
}
