package payload_test

import (
	"bytes"
	"context"
	"fmt"
	"os"

	"github.com/robotmem/robotmem-go/perception/payload"
)

func Example() {
	dir, err := os.MkdirTemp("", "payloads")
	if err != nil {
		return
	}
	defer os.RemoveAll(dir)
	folder := payload.Folder{Dir: dir}
	body := bytes.Repeat([]byte("12.5 N\n"), 100_000)
	w, err := folder.Write(context.Background(), bytes.NewReader(body), payload.Options{})
	if err != nil {
		return
	}
	if w.Inline != nil { // small: the caller stores the bytes, and reads them by w.Codec.Decode
		return
	}
	r, err := folder.Open(w.Sum, w.Codec, w.Size)
	if err != nil {
		return
	}
	defer r.Close()
	last := make([]byte, 7)
	_, err = r.ReadAt(last, w.Size-7)
	fmt.Printf("%q %v\n", last, err)
	// Output: "12.5 N\n" <nil>
}
