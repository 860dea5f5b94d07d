package fleet

import (
	"testing"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/robotmemtest"
)

// A memory that has joined a site keeps the contract: what does not name the site in scope is of this memory.
func TestContract(t *testing.T) {
	if testing.Short() {
		t.Skip("the node of a file has this test of its own: nothing for -race")
	}
	robotmemtest.Run(t, func(t *testing.T) robotmem.Service {
		return &Joined{Node: openFile(t, "arm.db"), Site: openFile(t, "site.db")}
	})
}
