package perception_test

import (
	"fmt"

	"github.com/robotmem/robotmem-go/perception"
)

func Example() {
	data := []byte("t,Fz\n0,-1\n0.1,-62\n0.2,-3\n")
	mediaType, err := perception.Sniff(data, "")
	if err != nil {
		return // only a declared type can be wrong
	}
	it := perception.Item{
		Type: "tactile", MediaType: mediaType, Data: data,
		Metadata: map[string]any{"units": map[string]any{"force": "N"}},
	}
	kind, vector, _ := perception.Features(it)
	picture, err := perception.MakePreview(it, perception.PreviewOptions{})
	fmt.Println(perception.Summarize(it))
	fmt.Println(kind, len(vector), picture.MediaType, err)
	// Output:
	// 1-channel trace, 3 samples over 300 ms, Fz peak -62 at 100 ms
	// trace/v2/1 64 image/svg+xml <nil>
}
