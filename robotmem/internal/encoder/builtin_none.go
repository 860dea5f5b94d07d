//go:build nomodel

package encoder

func builtinData() []byte { return nil }
