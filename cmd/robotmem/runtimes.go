package main

import "github.com/robotmem/robotmem-go/robotmem/embedding"

// runtimes run models in this process, besides those of package embedding.
// `make onnx` builds a robotmem with another version of this file:
// robotmem/embedding/onnx/_robotmem/runtimes.go.
func runtimes() map[string]embedding.Runtime { return nil }
