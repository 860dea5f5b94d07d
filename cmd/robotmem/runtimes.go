package main

import "github.com/robotmem/robotmem-go/robotmem/embedding"

// runtimes are runtimes of models in addition to those of package embedding. `make onnx` builds a
// robotmem with another version of this file: robotmem/embedding/onnx/_robotmem/runtimes.go.
func runtimes() map[string]embedding.Runtime { return nil }
