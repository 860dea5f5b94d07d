package embedding_test

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/embedding"
)

func Example() {
	e, err := embedding.Open("ollama:nomic-embed-text", embedding.Options{})
	if err != nil {
		return // a wrong spec or wrong files, never the network
	}
	defer e.(io.Closer).Close()
	vectors, err := e.Embed(context.Background(), robotmem.ForMemory, []string{"wet glass slips at 12.5 N"})
	if errors.Is(err, robotmem.Unavailable) {
		fmt.Println(e.State().Reason, "until", e.State().Until)
	}
	_ = vectors
}
