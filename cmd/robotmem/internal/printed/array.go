package printed

import (
	"bytes"
	"io"
)

// Array is a writer that makes one JSON array of what is written: each write is one element. Close ends the array.
type Array struct {
	to    io.Writer
	begun bool
}

// ArrayTo returns an array that is written to w.
func ArrayTo(w io.Writer) *Array { return &Array{to: w} }

func (a *Array) Write(element []byte) (int, error) {
	_, err := a.to.Write(append(a.separator(), bytes.TrimSpace(element)...))
	return len(element), err
}

// separator is what stands before the next element.
func (a *Array) separator() []byte {
	if a.begun {
		return []byte(",")
	}
	a.begun = true

	return []byte("[")
}

// Close ends the array, which is empty if nothing was written.
func (a *Array) Close() error {
	end := "]\n"
	if !a.begun {
		end = "[]\n"
	}
	_, err := io.WriteString(a.to, end)

	return err
}
