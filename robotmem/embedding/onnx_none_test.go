//go:build !onnx

package embedding_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/embedding"
)

func TestONNXNeedsABuild(t *testing.T) {
	_, err := embedding.Open("onnx:"+t.TempDir(), embedding.Options{})
	if !errors.Is(err, robotmem.Invalid) || !strings.Contains(err.Error(), "`go build -tags onnx`") {
		t.Errorf("got %v, want Invalid with the build that has it", err)
	}
}
