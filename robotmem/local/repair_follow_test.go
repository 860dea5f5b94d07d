package local

import (
	"testing"
)

// A repair drops the index of words while a recall or the keeper is about to
// follow it.
func TestRepairWhileTheIndexFollows(t *testing.T) {
	e := openTest(t, Options{})
	learnAll(t, e, "the gripper holds wet glass")
	if err := e.Warm(t.Context()); err != nil {
		t.Fatal(err)
	}
	e.index.drop() // between at's look and follow's lock, or between two pages of catchUp
	if err := e.store.read(t.Context(), func(c *conn) error {
		revision, err := c.changes()
		if err != nil {
			return err
		}
		_, err = e.index.words.follow(c, revision)
		return err
	}); err != nil {
		t.Fatal(err)
	}
}
