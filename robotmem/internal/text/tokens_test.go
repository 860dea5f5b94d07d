package text_test

import (
	"strings"
	"testing"

	"github.com/robotmem/robotmem-go/robotmem/internal/text"
)

func TestClipTokens(t *testing.T) {
	long := strings.Repeat("wet glass 湿玻璃 ", 50)
	for n := 1; n < 100; n++ {
		short := text.ClipTokens(long, n)
		if got := text.Tokens(short); got > n+2 || !strings.HasPrefix(long, strings.TrimSuffix(short, "…")) {
			t.Fatalf("%d tokens of %q, want %d", got, short, n)
		}
	}
	if got := text.ClipTokens("short", 5); got != "short" {
		t.Errorf("got %q", got)
	}
}
