package engine

import (
	"testing"

	"github.com/robotmem/robotmem-go/robotmem/internal/store"
)

// A repair drops the posting lists while a recall or the background maintenance is about
// to update them.
func TestRepairWhileTheIndexFollows(t *testing.T) {
	t.Parallel()
	e := openTest(t, Options{})
	learnAll(t, e, "the gripper holds wet glass")
	if err := e.Warm(t.Context()); err != nil {
		t.Fatal(err)
	}
	e.index.Drop() // between at's look and follow's lock, or between two pages of catchUp
	if err := e.Store.Read(t.Context(), func(c *store.Conn) error {
		revision, err := c.Changes()
		if err != nil {
			return err
		}
		_, err = e.index.Postings.Follow(c, revision)
		return err
	}); err != nil {
		t.Fatal(err)
	}
}
