package engine

import (
	"testing"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/admin"
	"github.com/robotmem/robotmem-go/robotmem/internal/maintenance"
	"github.com/robotmem/robotmem-go/robotmem/internal/store"
)

// An index of a later commit than doctor's snapshot is not damage.
func TestDoctorBesideWriters(t *testing.T) {
	t.Parallel()
	e := openTest(t, Options{})
	learnAll(t, e, "the gripper holds wet glass", "battery low in aisle four")
	if err := e.Warm(t.Context()); err != nil {
		t.Fatal(err)
	}
	d := &admin.DoctorResponse{}
	err := e.Store.Read(t.Context(), func(c *store.Conn) error {
		if _, err := c.Changes(); err != nil { // the snapshot begins
			return err
		}
		learnAll(t, e, "the gripper slips on wet glass again")
		recalled(t, e, &robotmem.RecallRequest{Query: "gripper"}) // brings the index into step
		return e.maintenance.ExaminePostings(c, d)
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range d.Checks {
		if c.Status == maintenance.CheckFail {
			t.Errorf("%s: %s", c.Name, c.Detail)
		}
	}
}
