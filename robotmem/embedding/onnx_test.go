//go:build onnx

package embedding_test

import (
	"context"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/embedding"
)

// An ONNX file is a ModelProto in the protocol buffers' wire format.
// https://github.com/onnx/onnx/blob/main/onnx/onnx.proto

// field is a length-delimited field.
func field(number int, data ...byte) []byte {
	return append(binary.AppendUvarint(binary.AppendUvarint(nil, uint64(number)<<3|2), uint64(len(data))), data...)
}

// number is a field of an integer.
func number(at int, value uint64) []byte {
	return binary.AppendUvarint(binary.AppendUvarint(nil, uint64(at)<<3), value)
}

func join(parts ...[]byte) (all []byte) {
	for _, p := range parts {
		all = append(all, p...)
	}
	return all
}

// lookUpModel is a model that answers a row of table for each token.
func lookUpModel(t testing.TB, table [][]float64, output string) []byte {
	const float, int64 = 1, 7 // TensorProto.DataType
	text := func(at int, s string) []byte { return field(at, []byte(s)...) }
	dim := func(name string, value int) []byte {
		if name != "" {
			return field(1, text(2, name)...)
		}
		return field(1, number(1, uint64(value))...)
	}
	value := func(name string, kind uint64, dims ...[]byte) []byte {
		shape := field(2, join(dims...)...)
		return join(text(1, name), field(2, field(1, join(number(1, kind), shape)...)...))
	}
	rows := rawOf(t, "F32", nil, converted(table, func(x float64) float32 { return float32(x) })).data
	batch, sequence := dim("batch", 0), dim("sequence", 0)
	graph := join(
		field(1, join(text(1, "table"), text(1, "input_ids"), text(2, output), text(3, "look_up"), text(4, "Gather"))...),
		text(2, "graph"),
		field(5, join(number(1, uint64(len(table))), number(1, uint64(len(table[0]))), number(2, float), text(8, "table"), field(9, rows...))...),
		field(11, value("input_ids", int64, batch, sequence)...),
		field(11, value("attention_mask", int64, batch, sequence)...),
		field(12, value(output, float, batch, sequence, dim("", len(table[0])))...),
	)
	return join(number(1, 8), field(7, graph...), field(8, number(2, 13)...))
}

// onnxFolder writes a model and returns its folder.
func onnxFolder(t testing.TB, files map[string]string) string {
	dir := filepath.Join(t.TempDir(), "tiny")
	for name, data := range files {
		full := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(full), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestONNX(t *testing.T) {
	for _, output := range []string{"last_hidden_state", "token_embeddings"} {
		dir := onnxFolder(t, map[string]string{"model.onnx": string(lookUpModel(t, bertVectors, output)), "tokenizer.json": bertTokenizer})
		e := open(t, "onnx:"+dir, embedding.Options{})
		if got := e.State().Model; !strings.HasPrefix(got, "onnx:tiny@") {
			t.Errorf("%s: got the model %q", output, got)
		}
		got := embed(t, e, robotmem.ForMemory, "wet", "wet glass", "wet glass slips!", "WET")
		want := [][]float32{{1, 0}, {0.5, 0.5}, {1, 3}, {1, 0}}
		if diff := cmp.Diff(want, got, cmpopts.EquateApprox(0, 1e-6)); diff != "" {
			t.Errorf("%s: vectors (-want +got):\n%s", output, diff)
		}
	}
}

func TestONNXSideBySide(t *testing.T) {
	dir := onnxFolder(t, map[string]string{"model.onnx": string(lookUpModel(t, bertVectors, "last_hidden_state")), "tokenizer.json": bertTokenizer})
	e := open(t, "onnx:"+dir, embedding.Options{})
	var calls sync.WaitGroup
	for i := range 8 {
		calls.Go(func() {
			text := strings.TrimSpace(strings.Repeat("wet ", i+1))
			vectors, err := e.Embed(t.Context(), robotmem.ForMemory, []string{text})
			if err != nil || !cmp.Equal([][]float32{{1, 0}}, vectors) {
				t.Errorf("%q: got %v, %v", text, vectors, err)
			}
		})
	}
	calls.Wait()
}

func TestONNXAfterClose(t *testing.T) {
	dir := onnxFolder(t, map[string]string{"model.onnx": string(lookUpModel(t, bertVectors, "last_hidden_state")), "tokenizer.json": bertTokenizer})
	e := open(t, "onnx:"+dir, embedding.Options{})
	closeNow(t, e)
	if _, err := e.Embed(t.Context(), robotmem.ForMemory, []string{"wet"}); !errors.Is(err, robotmem.Unavailable) {
		t.Errorf("got %v, want Unavailable", err)
	}
}

func TestONNXThatIsCanceled(t *testing.T) {
	dir := onnxFolder(t, map[string]string{"model.onnx": string(lookUpModel(t, bertVectors, "last_hidden_state")), "tokenizer.json": bertTokenizer})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	e := open(t, "onnx:"+dir, embedding.Options{})
	if _, err := e.Embed(ctx, robotmem.ForMemory, []string{"wet"}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want canceled", err)
	}
}

func TestONNXFilesThatCannotBeUsed(t *testing.T) {
	good := string(lookUpModel(t, bertVectors, "last_hidden_state"))
	for name, test := range map[string]struct {
		files map[string]string
		kind  robotmem.Kind
		text  string
	}{
		"no model":        {map[string]string{"tokenizer.json": bertTokenizer}, robotmem.NotFound, "model.onnx"},
		"no tokenizer":    {map[string]string{"model.onnx": good}, robotmem.NotFound, "tokenizer.json"},
		"the hub's own":   {map[string]string{"onnx/model.onnx": good, "tokenizer.json": bertTokenizer}, robotmem.Invalid, "move model.onnx up"},
		"half of a model": {map[string]string{"model.onnx": good[:len(good)/2], "tokenizer.json": bertTokenizer}, robotmem.Invalid, "the model in"},
		"the first token": {map[string]string{"model.onnx": good, "tokenizer.json": bertTokenizer, "1_Pooling/config.json": `{"pooling_mode_cls_token": true, "pooling_mode_mean_tokens": false}`}, robotmem.Invalid, "first token"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := embedding.Open("onnx:"+onnxFolder(t, test.files), embedding.Options{})
			if !errors.Is(err, test.kind) || !strings.Contains(err.Error(), test.text) {
				t.Errorf("got %v, want %s with %q", err, test.kind, test.text)
			}
		})
	}
}
