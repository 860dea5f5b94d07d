//go:build !amd64 && !arm64

package encoder

// available returns the kernels that this processor can run.
func available() []*kernels { return []*kernels{&plain} }
