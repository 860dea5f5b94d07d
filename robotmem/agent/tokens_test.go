//go:build tokens

package agent_test

import (
	"testing"

	"github.com/tiktoken-go/tokenizer/codec"
)

// tokens counts those of a common tokenizer.
func tokens(t *testing.T, text string) int {
	t.Helper()
	n, err := codec.NewCl100kBase().Count(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}
