package main

import (
	"bytes"
	"context"
	"testing"

	"github.com/robotmem/robotmem-go/robotmem/progress"
)

// Where no terminal would show it, nobody works it out.
func TestNothingIsWatchedWithoutATerminal(t *testing.T) {
	a := &app{Stderr: &bytes.Buffer{}}
	if ctx := a.watched(context.Background()); progress.Of(ctx) != nil {
		t.Error("a bar is watched that is not drawn")
	}
}
