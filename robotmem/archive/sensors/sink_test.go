package sensors_test

import (
	"bytes"
	"context"
	"image"
	"image/png"
	"io"
	"sync"
	"testing"
	"time"

	"github.com/robotmem/robotmem-go/perception"
	"github.com/robotmem/robotmem-go/perception/importers"
	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/archive/sensors"
)

// busyNode counts how many perceptions are saved side by side.
type busyNode struct {
	robotmem.Node
	mu        sync.Mutex
	now, most int
	saved     int
}

func (n *busyNode) SavePerceptionFrom(context.Context, *robotmem.SavePerceptionRequest, io.Reader) (*robotmem.SavePerceptionResponse, error) {
	n.mu.Lock()
	n.now++
	n.saved++
	n.most = max(n.most, n.now)
	n.mu.Unlock()
	time.Sleep(5 * time.Millisecond) // others may begin meanwhile; the test does not depend on it
	n.mu.Lock()
	n.now--
	n.mu.Unlock()
	return &robotmem.SavePerceptionResponse{Status: "created"}, nil
}

// Pictures that take much memory to decode are not described all at once.
func TestLargePicturesAreSavedFewAtATime(t *testing.T) {
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 8000, 8000))); err != nil {
		t.Fatal(err)
	}
	// A picture of its size is decoded if it has content, which a few bytes have not.
	large := append(b.Bytes(), make([]byte, 5<<20)...)
	if got := perception.DecodeBytes(perception.Item{Data: large}); got < 200<<20 {
		t.Fatalf("decoding the picture takes %d bytes", got)
	}
	if got := perception.DecodeBytes(perception.Item{Data: b.Bytes()}); got != 0 {
		t.Errorf("a picture that is not decoded takes %d bytes", got)
	}

	n := &busyNode{}
	ps := make([]importers.Perception, 24)
	for i := range ps {
		ps[i] = importers.Perception{Description: "a large picture", MediaType: "image/png", Data: large}
	}
	stored, err := (&sensors.Sink{Node: n}).Save(t.Context(), "", ps)
	if err != nil || stored != len(ps) || n.saved != len(ps) {
		t.Fatalf("stored %d of %d, %v", stored, len(ps), err)
	}
	if n.most > 2 {
		t.Errorf("%d pictures are decoded side by side", n.most)
	}
}
