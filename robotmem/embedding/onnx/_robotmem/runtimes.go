// This file takes the place of cmd/robotmem/runtimes.go in a robotmem with ONNX;
// overlay.json beside it says so to `go build`.
package main

import (
	"github.com/robotmem/robotmem-go/robotmem/embedding"
	"github.com/robotmem/robotmem-go/robotmem/embedding/onnx"
)

// runtimes run models in this process, besides those of package embedding.
func runtimes() map[string]embedding.Runtime {
	return map[string]embedding.Runtime{"onnx": onnx.Runtime()}
}
