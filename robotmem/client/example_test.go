package client_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/client"
)

func Example() {
	m := client.New("http://127.0.0.1:1", client.Options{})
	_, err := m.Recall(context.Background(), &robotmem.RecallRequest{Query: "wet glass"})
	fmt.Println(errors.Is(err, robotmem.Unavailable)) // the node is not running, or busy
	// Output: true
}
