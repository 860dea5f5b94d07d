package web_test

import (
	"io"
	"net/http"
	"os"
	"runtime"
	"testing"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/web"
)

// A payload that waits for its fields has no name, so that a node which loses
// its power leaves nothing behind.
func TestPayloadsSetAsideHaveNoName(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a file that is open has a name there")
	}
	u := serveUploads(t, robotmem.Options{}, web.Options{})
	form := encodeParts(t, []part{{"data", string(noise(16 << 20))}, {"description", "noise of a test"}})
	body, send := io.Pipe()
	answered := make(chan error, 1)
	go func() {
		res, err := http.Post(u.URL+"/api/perceptions", "multipart/form-data; boundary="+boundary, body)
		if err == nil {
			res.Body.Close()
		}
		answered <- err
	}()
	// More than what connections hold on the way: the node is at it.
	if _, err := io.WriteString(send, form[:15<<20]); err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(u.temp); err != nil || len(left) > 0 {
		t.Errorf("temporary files: %v %v", left, err)
	}
	if _, err := io.WriteString(send, form[15<<20:]); err != nil {
		t.Fatal(err)
	}
	send.Close()
	if err := <-answered; err != nil {
		t.Error(err)
	}
	if n := total(t, u.engine); n != 1 {
		t.Errorf("%d memories", n)
	}
}
