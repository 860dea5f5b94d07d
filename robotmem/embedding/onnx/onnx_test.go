package onnx_test

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/embedding"
	"github.com/robotmem/robotmem-go/robotmem/embedding/onnx"
)

// An ONNX file is a ModelProto in the protocol buffers' wire format.
// https://github.com/onnx/onnx/blob/main/onnx/onnx.proto

// bertTokenizer knows six tokens, the first of them the unknown one.
const bertTokenizer = `{
	"added_tokens": [{"id": 0, "content": "[UNK]", "special": true}],
	"normalizer": {"type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true, "strip_accents": null, "lowercase": true},
	"pre_tokenizer": {"type": "BertPreTokenizer"},
	"model": {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##", "max_input_chars_per_word": 20,
		"vocab": {"[UNK]": 0, "wet": 1, "glass": 2, "slip": 3, "##s": 4, "!": 5}}
}`

// bertVectors are the vectors of its tokens.
var bertVectors = [][]float32{{1000, 1000}, {1, 0}, {0, 1}, {4, 2}, {2, 4}, {-2, 8}}

// options are those of a program with the runtime.
func options() embedding.Options {
	return embedding.Options{Runtimes: map[string]embedding.Runtime{"onnx": onnx.Runtime()}}
}

// open opens the model in dir and closes it with the test.
func open(t testing.TB, dir string) robotmem.Embedder {
	t.Helper()
	e, err := embedding.Open("onnx:"+dir, options())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { closeNow(t, e) })
	return e
}

func closeNow(t testing.TB, e robotmem.Embedder) {
	t.Helper()
	if err := e.(io.Closer).Close(); err != nil {
		t.Errorf("close: %v", err)
	}
}

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
func lookUpModel(table [][]float32, output string) []byte {
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
	var rows []byte
	for _, row := range table {
		for _, x := range row {
			rows = binary.LittleEndian.AppendUint32(rows, math.Float32bits(x))
		}
	}
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

// modelFolder writes a model and returns its folder.
func modelFolder(t testing.TB, files map[string]string) string {
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
		dir := modelFolder(t, map[string]string{"model.onnx": string(lookUpModel(bertVectors, output)), "tokenizer.json": bertTokenizer})
		e := open(t, dir)
		if got := e.State().Model; !strings.HasPrefix(got, "onnx:tiny@") {
			t.Errorf("%s: got the model %q", output, got)
		}
		got, err := e.Embed(t.Context(), robotmem.ForMemory, []string{"wet", "wet glass", "wet glass slips!", "WET"})
		if err != nil {
			t.Fatal(err)
		}
		want := [][]float32{{1, 0}, {0.5, 0.5}, {1, 3}, {1, 0}}
		if diff := cmp.Diff(want, got, cmpopts.EquateApprox(0, 1e-6)); diff != "" {
			t.Errorf("%s: vectors (-want +got):\n%s", output, diff)
		}
	}
}

func TestONNXSideBySide(t *testing.T) {
	dir := modelFolder(t, map[string]string{"model.onnx": string(lookUpModel(bertVectors, "last_hidden_state")), "tokenizer.json": bertTokenizer})
	e := open(t, dir)
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
	dir := modelFolder(t, map[string]string{"model.onnx": string(lookUpModel(bertVectors, "last_hidden_state")), "tokenizer.json": bertTokenizer})
	e := open(t, dir)
	closeNow(t, e)
	if _, err := e.Embed(t.Context(), robotmem.ForMemory, []string{"wet"}); !errors.Is(err, robotmem.Unavailable) {
		t.Errorf("got %v, want Unavailable", err)
	}
}

func TestONNXThatIsCanceled(t *testing.T) {
	dir := modelFolder(t, map[string]string{"model.onnx": string(lookUpModel(bertVectors, "last_hidden_state")), "tokenizer.json": bertTokenizer})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	e := open(t, dir)
	if _, err := e.Embed(ctx, robotmem.ForMemory, []string{"wet"}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want canceled", err)
	}
}

func TestONNXFilesThatCannotBeUsed(t *testing.T) {
	good := string(lookUpModel(bertVectors, "last_hidden_state"))
	for name, test := range map[string]struct {
		files map[string]string
		kind  robotmem.Kind
		text  string
	}{
		"no model":        {map[string]string{"tokenizer.json": bertTokenizer}, robotmem.NotFound, "model.onnx"},
		"no tokenizer":    {map[string]string{"model.onnx": good}, robotmem.NotFound, "tokenizer.json"},
		"the hub's own":   {map[string]string{"onnx/model.onnx": good, "tokenizer.json": bertTokenizer}, robotmem.NotFound, "model.onnx"},
		"half of a model": {map[string]string{"model.onnx": good[:len(good)/2], "tokenizer.json": bertTokenizer}, robotmem.Invalid, "the model in"},
		"the first token": {map[string]string{"model.onnx": good, "tokenizer.json": bertTokenizer, "1_Pooling/config.json": `{"pooling_mode_cls_token": true, "pooling_mode_mean_tokens": false}`}, robotmem.Invalid, "first token"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := embedding.Open("onnx:"+modelFolder(t, test.files), options())
			if !errors.Is(err, test.kind) || !strings.Contains(err.Error(), test.text) {
				t.Errorf("got %v, want %s with %q", err, test.kind, test.text)
			}
		})
	}
}

// The program that `make onnx` builds recalls by meaning with an ONNX model.
func TestProgram(t *testing.T) {
	if testing.Short() {
		t.Skip("builds robotmem")
	}
	program := filepath.Join(t.TempDir(), "robotmem")
	build := exec.CommandContext(t.Context(), "go", "build", "-overlay", "robotmem/embedding/onnx/_robotmem/overlay.json", "-o", program, "./cmd/robotmem")
	workspace, err := filepath.Abs("go.work")
	if err != nil {
		t.Fatal(err)
	}
	build.Dir, build.Env = "../../..", append(os.Environ(), "GOWORK="+workspace)
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	dir := modelFolder(t, map[string]string{"model.onnx": string(lookUpModel(bertVectors, "last_hidden_state")), "tokenizer.json": bertTokenizer})
	home := t.TempDir()
	robotmem := func(args ...string) string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), program, args...)
		cmd.Env = append(os.Environ(), "ROBOTMEM_HOME="+home, "ROBOTMEM_EMBEDDER=onnx:"+dir)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("robotmem %s: %v\n%s", strings.Join(args, " "), err, out)
		}
		return string(out)
	}
	robotmem("learn", "wet glass slips")
	robotmem("reembed")
	if got := robotmem("recall", "wet glass", "--json"); !strings.Contains(got, `"mode":"hybrid"`) {
		t.Errorf("got %s, want the mode hybrid", got)
	}
}
