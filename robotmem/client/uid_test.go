package client

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/robotmem/robotmem-go/robotmem"
)

// What is no uid must not reach the node, which would read 7 as the number of a memory.
func TestWhatIsNoUIDIsNotSent(t *testing.T) {
	asked := 0
	node := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked++
		w.WriteHeader(http.StatusNotFound)
	}))
	defer node.Close()
	c := New(node.URL, Options{})

	for _, r := range []robotmem.MemoryRequest{
		{UID: "7"}, {UID: "#7"}, {UID: "01890A5D-AC96-774B-BCCE-B302099A8057"},
		{MemoryID: 7, UID: "01890a5d-ac96-774b-bcce-b302099a8057"},
	} {
		if _, err := c.Get(t.Context(), &r); robotmem.KindOf(err) != robotmem.Invalid {
			t.Errorf("%+v: got %v", r, err)
		}
		if _, err := c.OpenData(t.Context(), &r); robotmem.KindOf(err) != robotmem.Invalid {
			t.Errorf("%+v: got %v", r, err)
		}
	}
	if asked != 0 {
		t.Errorf("the node was asked %d times", asked)
	}
}
