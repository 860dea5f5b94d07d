//go:build !onnx

package embedding

import "github.com/robotmem/robotmem-go/robotmem"

// openONNX refuses: the runtime in Go would add 12 MB to every binary for
// the few that use it.
func openONNX(dir string, _ Options) (robotmem.Embedder, error) {
	return nil, invalid("onnx:%s needs a build that runs ONNX models, made with `go build -tags onnx`; this one offers model2vec:<dir> and ollama:<model>", dir)
}
