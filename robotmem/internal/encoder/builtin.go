//go:build !nomodel

package encoder

import (
	_ "embed"
	"unsafe"
)

//go:embed e5small.bin
var weights string // in the program's file: the system reads a page when it is used

func builtinData() []byte { return unsafe.Slice(unsafe.StringData(weights), len(weights)) }
