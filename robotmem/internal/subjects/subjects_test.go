package subjects

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/robotmem/robotmem-go/robotmem"
)

func TestNamesInTexts(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       bool
	}{
		{"gripper 3", "gripper 3 slips on wet glass", true},
		{"gripper 3", "the Gripper-3, after lunch", true},
		{"gripper 3", "gripper3 and gripper_4", true},
		{"gripper 3", "gripper #3: new pads", true},
		{"gripper 3", "gripper 30 is new", false},
		{"gripper 3", "gripper 3.5 mm open", false},
		{"gripper 3", "close the gripper 3 N harder", false},
		{"gripper 3", "close the gripper 3 % more", false},
		{"gripper 3", "gripper 3% open", false},
		{"gripper 3", "gripper 3 in bay B", true},
		{"gripper 3", "gripper 3.", true},
		{"gripper 3", "gripper 2 and 3 jam", false},
		{"gripper 3", "gripper; 3 tries", false},
		{"gripper", "the gripper-tool", true},
		{"gripper", "grippers jam", false},
		{"WT-08", "keep 300 m from WT-08", true},
		{"WT-08", "WT-8 and WT-080", false},
		{"wt08", "WT-08 has a nest", true},
		{"M2", "M2 vise jaw gap is 63.5 mm", true},
		{"M2", "the hall has 3 m2", false},
		{"M2", "the hall has 3 m²", false},
		{"arm7", "arm 7 hit the table", true},
		{"dock B", "at dock B the floor is wet", true},
		{"dock B", "dock Ba", false},
		{"夹爪3", "左夹爪3坏了", true},
		{"夹爪3", "夹爪30正常", false},
		{"夹爪", "左夹爪坏了", true},
		{"GRÜNER BECHER", "der grüne Becher", false},
		{"grüner Becher", "Grüner Becher rutscht", true},
		{"…", "anything", false},
	} {
		n := ParseName(c.name)
		if got := n.In(c.text); got != c.want {
			t.Errorf("%q in %q: got %v", c.name, c.text, got)
		}
	}
}

func TestNamesInContexts(t *testing.T) {
	context := robotmem.ParseObject(`{"robot":{"id":"arm-7","name":"Bertha","speed":3},"gripper":3,
		"spatial":{"map_id":"hall","position":[1,2,3]},"task":{"object":"wet glass","note":"beside dock B"},"parts":["pump 4"]}`)
	for name, want := range map[string][]Found{
		"arm7":      {{Path: "robot.id", Kind: Robot, Others: map[string]string{"name": "Bertha"}}},
		"bertha":    {{Path: "robot.name", Kind: Robot, Others: map[string]string{"id": "arm-7"}}},
		"gripper 3": {{Path: "gripper", Kind: Part}},
		"hall":      {{Path: "spatial.map_id", Kind: Place}},
		"map hall":  {{Path: "spatial.map_id", Kind: Place}},
		"wet glass": {{Path: "task.object", Kind: Object}},
		"pump 4":    {{Path: "parts"}},
		"3":         nil,
		"speed 4":   nil,
		"dock B":    nil,
	} {
		n := ParseName(name)
		if diff := cmp.Diff(want, n.InContext(context)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}

	n := ParseName("dock B")
	if !n.Mentions("it slipped", context) {
		t.Error("a text of the context that has the name is not found")
	}
}

func TestCatalog(t *testing.T) {
	c, err := ParseCatalog([]byte("[[entity]]\nname = \"gripper 3\"\nkind = \"part\"\naliases = [\"G3\", \"left gripper\"]\n"))
	if err != nil {
		t.Fatal(err)
	}
	n := ParseName("g-3")
	if got := c.Of(&n); got == nil || got.Name != "gripper 3" || got.Kind != Part {
		t.Errorf("got %+v", got)
	}
	if n := ParseName("gripper 4"); c.Of(&n) != nil {
		t.Error("another gripper is found")
	}

	if c, err := ParseCatalog(nil); err != nil || len(c.Entities) != 0 {
		t.Errorf("got %v, %v", c, err)
	}

	for text, said := range map[string]string{
		"[[entity]]\nname = 3\n":                                               "line 2",
		"[[entity]\n":                                                          "line 1",
		"[[entity]]\nkind = \"part\"\n":                                        "name is missing",
		"[[entity]]\nname=\"a1\"\nkind=\"ghost\"\n":                            "must be robot, object",
		"[[entity]]\nname=\"a1\"\naliases=[\"-\"]\n":                           "an alias is empty",
		"[[entity]]\nname=\"a1\"\n[[entity]]\nname=\"b\"\naliases=[\"A-1\"]\n": "is a name of \"a1\" already",
	} {
		if _, err := ParseCatalog([]byte(text)); err == nil || !strings.Contains(err.Error(), said) {
			t.Errorf("%q: got %v, want %q", text, err, said)
		}
	}
}
