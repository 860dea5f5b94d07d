package encoder

import (
	"crypto/sha256"
	"fmt"
	"runtime/debug"
	"sync"
)

// BuiltinName is the model in the program, with a part of the hash of its header, which has the checksums
// of all its parts. It is read when it is first asked for, and empty in a program that was built with the tag nomodel.
var BuiltinName = sync.OnceValue(func() string { return builtinName(builtinData()) })

func builtinName(data []byte) string {
	if len(data) < headerBytes+20*sections {
		return ""
	}
	hash := sha256.Sum256(data[:headerBytes+20*sections])
	return fmt.Sprintf("multilingual-e5-small@%x", hash[:4])
}

// Builtin returns the model in the program. It is read when it is first asked for, which takes some
// milliseconds. It fails with ErrDamaged if the program's file is not what was built.
var Builtin = sync.OnceValues(func() (m *Model, err error) {
	defer func(before bool) {
		debug.SetPanicOnFault(before)
		if p := recover(); p != nil { // a page of the file cannot be read
			m, err = nil, fmt.Errorf("%w: %v", ErrDamaged, p)
		}
	}(debug.SetPanicOnFault(true))

	return Open(builtinData())
})
