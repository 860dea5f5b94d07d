package embedding_test

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/embedding"
)

// bertTokenizer knows seven tokens, the first of them the unknown one.
const bertTokenizer = `{
	"added_tokens": [{"id": 0, "content": "[UNK]", "special": true}],
	"normalizer": {"type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true, "strip_accents": null, "lowercase": true},
	"pre_tokenizer": {"type": "BertPreTokenizer"},
	"model": {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##", "max_input_chars_per_word": 20,
		"vocab": {"[UNK]": 0, "wet": 1, "glass": 2, "slip": 3, "##s": 4, "!": 5, "湿": 6}}
}`

// bertVectors are its vectors. The vector of the unknown token would be visible in
// any mean.
var bertVectors = [][]float64{{1000, 1000}, {1, 0}, {0, 1}, {4, 2}, {2, 4}, {-2, 8}, {3, 3}}

// tensorFile is a safetensors file.
func tensorFile(t testing.TB, tensors map[string]any) []byte {
	t.Helper()
	header := map[string]any{"__metadata__": map[string]string{"format": "pt"}}
	var body bytes.Buffer
	for name, values := range tensors {
		begin := body.Len()
		dtype, shape := "", []int{}
		switch v := values.(type) {
		case [][]float32:
			dtype, shape = "F32", []int{len(v), len(v[0])}
			for _, row := range v {
				write(t, &body, row)
			}
		case raw:
			dtype, shape = v.dtype, v.shape
			body.Write(v.data)
		}
		header[name] = map[string]any{"dtype": dtype, "shape": shape, "data_offsets": []int{begin, body.Len()}}
	}
	data, err := json.Marshal(header)
	if err != nil {
		t.Fatal(err)
	}
	var file bytes.Buffer
	write(t, &file, uint64(len(data)))
	file.Write(data)
	file.Write(body.Bytes())
	return file.Bytes()
}

// raw is a tensor by its bytes.
type raw struct {
	dtype string
	shape []int
	data  []byte
}

// rawOf returns the tensor of values of a fixed size.
func rawOf[T any](t testing.TB, dtype string, shape []int, values []T) raw {
	t.Helper()
	var b bytes.Buffer
	write(t, &b, values)
	return raw{dtype, shape, b.Bytes()}
}

func write(t testing.TB, b *bytes.Buffer, v any) {
	t.Helper()
	if err := binary.Write(b, binary.LittleEndian, v); err != nil {
		t.Fatal(err)
	}
}

// converted is m in another type of number, row by row.
func converted[T any](m [][]float64, to func(float64) T) []T {
	var all []T
	for _, row := range m {
		for _, x := range row {
			all = append(all, to(x))
		}
	}
	return all
}

// half is an integer as an IEEE 754 binary16.
func half(x float64) uint16 {
	if x == 0 {
		return 0
	}
	fraction, exponent := math.Frexp(math.Abs(x))
	bits := uint16(exponent+14)<<10 | uint16(fraction*2048)&0x3ff
	if x < 0 {
		bits |= 1 << 15
	}
	return bits
}

// modelFolder writes a model and returns its folder, named tiny.
func modelFolder(t testing.TB, weights []byte, tokenizer, config string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "tiny")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string]string{"model.safetensors": string(weights), "tokenizer.json": tokenizer, "config.json": config} {
		if data == "" {
			continue
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// bertWeights are the vectors as F32.
func bertWeights(t testing.TB) map[string]any {
	t.Helper()
	return map[string]any{"embeddings": rawOf(t, "F32", []int{7, 2}, converted(bertVectors, func(x float64) float32 { return float32(x) }))}
}

func TestModel2VecMeans(t *testing.T) {
	dir := modelFolder(t, tensorFile(t, bertWeights(t)), bertTokenizer, "")
	e := open(t, "model2vec:"+dir, embedding.Options{})
	for text, want := range map[string][]float32{
		"wet":                                   {1, 0},
		"wet glass":                             {0.5, 0.5},
		"Wet   GLASS":                           {0.5, 0.5},
		"wét":                                   {1, 0},
		"slips":                                 {3, 3},
		"wet glass slips!":                      {1, 3},
		"wet carpet glass":                      {0.5, 0.5}, // carpet is unknown and does not count
		"glasses":                               nil,        // glass, but no ##es
		"wet [UNK]":                             {1, 0},
		"湿wet":                                  {2, 1.5},
		"carpet":                                nil,
		"干":                                     nil,
		"slip" + "ssssssssssssssss":             {2.1176472, 3.882353}, // 4+16·2, 2+16·4 over 17
		"slipsssssssssssssssss":                 nil,                   // 21 letters are too many for a word
		"wet\x00glass":                          nil,                   // one word: the control character is taken out
		strings.Repeat("! ", 512) + "wet":       {-2, 8},
		strings.Repeat("x ", 511) + "wet glass": {1, 0}, // unknown words count among the 512
		strings.Repeat("wet ", 512) + "glass":   {1, 0}, // the 513th token
	} {
		vectors, err := e.Embed(t.Context(), robotmem.ForMemory, []string{"wet", text})
		if want == nil {
			if !errors.Is(err, robotmem.Invalid) || !strings.Contains(err.Error(), "texts: one") {
				t.Errorf("%.30q: got %v, %v, want Invalid that names the texts", text, vectors, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%.30q: %v", text, err)
			continue
		}
		if diff := cmp.Diff(want, vectors[1], cmpopts.EquateApprox(0, 1e-6)); diff != "" {
			t.Errorf("%.30q (-want +got):\n%s", text, diff)
		}
	}
}

func TestModel2VecSettings(t *testing.T) {
	dir := modelFolder(t, tensorFile(t, bertWeights(t)), bertTokenizer, `{"normalize": true, "max_length": 2, "model_type": "model2vec"}`)
	e := open(t, "model2vec:"+dir, embedding.Options{})
	got := embed(t, e, robotmem.ForMemory, "! wet", "! wet glass")
	length := math.Hypot(-0.5, 4)
	want := []float32{float32(-0.5 / length), float32(4 / length)}
	for i := range got {
		if diff := cmp.Diff(want, got[i], cmpopts.EquateApprox(0, 1e-6)); diff != "" {
			t.Errorf("text %d (-want +got):\n%s", i, diff)
		}
	}
}

func TestModel2VecTypesOfNumbers(t *testing.T) {
	small := append([][]float64{{100, 100}}, bertVectors[1:]...) // I8 ends at 127
	shape := []int{7, 2}
	for dtype, tensor := range map[string]raw{
		"F64": rawOf(t, "F64", shape, converted(small, func(x float64) float64 { return x })),
		"F32": rawOf(t, "F32", shape, converted(small, func(x float64) float32 { return float32(x) })),
		"F16": rawOf(t, "F16", shape, converted(small, half)),
		"I8":  rawOf(t, "I8", shape, converted(small, func(x float64) int8 { return int8(x) })),
	} {
		dir := modelFolder(t, tensorFile(t, map[string]any{"embeddings": tensor}), bertTokenizer, "")
		got := embed(t, open(t, "model2vec:"+dir, embedding.Options{}), robotmem.ForMemory, "wet glass slips!")
		if diff := cmp.Diff([][]float32{{1, 3}}, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", dtype, diff)
		}
	}
}

func TestModel2VecWeights(t *testing.T) {
	dir := modelFolder(t, tensorFile(t, map[string]any{
		"embedding.weight": [][]float32{{9, 9}, {1, 2}, {1, 2}, {4, -4}, {4, -4}, {9, 9}, {4, -4}},
		"weights":          rawOf(t, "F64", []int{7}, []float64{1, 2, 4, 0.5, 0.25, 1, 1}),
	}), bertTokenizer, "")
	got := embed(t, open(t, "model2vec:"+dir, embedding.Options{}), robotmem.ForMemory, "wet glass slip")
	// 2·(1,2) + 4·(1,2) + 0.5·(4,-4) over 3 tokens
	if diff := cmp.Diff([][]float32{{8.0 / 3, 10.0 / 3}}, got, cmpopts.EquateApprox(0, 1e-6)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestModel2VecRefusesATextOfALaterBatch(t *testing.T) {
	dir := modelFolder(t, tensorFile(t, bertWeights(t)), bertTokenizer, "")
	e := open(t, "model2vec:"+dir, embedding.Options{Batch: 2})
	_, err := e.Embed(t.Context(), robotmem.ForMemory, []string{"wet", "wet", "wet", "carpet", "wet"})
	if !errors.Is(err, robotmem.Invalid) || !strings.Contains(err.Error(), "texts: one") {
		t.Errorf("got %v, want Invalid that names the texts", err)
	}
	if got := e.State().Reason; got != "" {
		t.Errorf("got the reason %q after a text that was refused", got)
	}
}

func TestModel2VecIdentity(t *testing.T) {
	weights := tensorFile(t, bertWeights(t))
	other := tensorFile(t, map[string]any{"embeddings": [][]float32{{1, 1}, {1, 1}, {1, 1}, {1, 1}, {1, 1}, {1, 1}, {1, 2}}})
	name := func(weights []byte, slash string) string {
		return open(t, "model2vec:"+modelFolder(t, weights, bertTokenizer, "")+slash, embedding.Options{}).State().Model
	}
	first := name(weights, "")
	if !regexp.MustCompile(`^model2vec:tiny@[0-9a-f]{8}$`).MatchString(first) {
		t.Errorf("got %q, want the folder's name and eight digits", first)
	}
	if got := name(other, ""); got == first {
		t.Errorf("two models are both %q", got)
	}
}

// tensorFile writes tensors in random order, so this file is written once.
func TestModel2VecIdentityOfACopy(t *testing.T) {
	weights := tensorFile(t, bertWeights(t))
	a := open(t, "model2vec:"+modelFolder(t, weights, bertTokenizer, ""), embedding.Options{}).State()
	b := open(t, "model2vec:"+modelFolder(t, weights, bertTokenizer, "{}")+string(filepath.Separator), embedding.Options{}).State()
	if a != b {
		t.Errorf("a copy of %+v is %+v", a, b)
	}
}

func TestModel2VecFilesThatCannotBeUsed(t *testing.T) {
	good := tensorFile(t, bertWeights(t))
	claims := func(header string, body int) []byte {
		var b bytes.Buffer
		write(t, &b, uint64(len(header)))
		b.WriteString(header)
		b.Write(make([]byte, body))
		return b.Bytes()
	}
	tokenizer := func(old, new string) string { return strings.Replace(bertTokenizer, old, new, 1) }
	tests := []struct {
		name              string
		weights           []byte
		tokenizer, config string
		kind              robotmem.Kind
		text              string
	}{
		{"no weights", nil, bertTokenizer, "", robotmem.NotFound, "model.safetensors"},
		{"no tokenizer", good, "", "", robotmem.NotFound, "tokenizer.json"},
		{"a config of another form", good, bertTokenizer, "[]", robotmem.Invalid, "config.json"},
		{"a page in place of weights", []byte("<html>"), bertTokenizer, "", robotmem.Invalid, "the file is incomplete or of another format"},
		{"a longer page", []byte("<html><title>no such file</title></html>"), bertTokenizer, "", robotmem.Invalid, "the file is incomplete or of another format"},
		{"half of the weights", good[:len(good)-8], bertTokenizer, "", robotmem.Invalid, "the file is incomplete or of another format"},
		{"a header that is no JSON", claims("{", 0), bertTokenizer, "", robotmem.Invalid, "the file is incomplete or of another format"},
		{"a tensor before the file", claims(`{"embeddings":{"dtype":"F32","shape":[1,2],"data_offsets":[-8,0]}}`, 8), bertTokenizer, "", robotmem.Invalid, "the file is incomplete or of another format"},
		{"a shape that overflows", claims(`{"embeddings":{"dtype":"F32","shape":[4611686018427387904,4],"data_offsets":[0,0]}}`, 8), bertTokenizer, "", robotmem.Invalid, "the file is incomplete or of another format"},
		{"a shape of too much", claims(`{"embeddings":{"dtype":"F32","shape":[3,2],"data_offsets":[0,8]}}`, 8), bertTokenizer, "", robotmem.Invalid, "the file is incomplete or of another format"},
		{"numbers in four bits", claims(`{"embeddings":{"dtype":"F4","shape":[1,2],"data_offsets":[0,1]}}`, 8), bertTokenizer, "", robotmem.Invalid, "the file is incomplete or of another format"},
		{"a tensor of three dimensions", claims(`{"embeddings":{"dtype":"F32","shape":[1,1,2],"data_offsets":[0,8]}}`, 8), bertTokenizer, "", robotmem.Invalid, "3 dimensions"},
		{"another kind of model", tensorFile(t, map[string]any{"layer.0": [][]float32{{1}}}), bertTokenizer, "", robotmem.Invalid, "not a Model2Vec model"},
		{"fewer vectors than tokens", tensorFile(t, map[string]any{"embeddings": [][]float32{{1, 2}}}), bertTokenizer, "", robotmem.Invalid, "7 tokens, but 1 vectors"},
		{"fewer weights than tokens", tensorFile(t, map[string]any{"embeddings": bertWeights(t)["embeddings"], "weights": rawOf(t, "F64", []int{2}, []float64{1, 2})}), bertTokenizer, "", robotmem.Invalid, "7 tokens, but 2 weights"},
		{"a mapping", tensorFile(t, map[string]any{"embeddings": bertWeights(t)["embeddings"], "mapping": rawOf(t, "I64", []int{1}, []int64{0})}), bertTokenizer, "", robotmem.Invalid, "quantized vocabulary"},
		{"a tokenizer that is no JSON", good, "{", "", robotmem.Invalid, "tokenizer.json"},
		{"a byte-pair model", good, tokenizer(`"WordPiece"`, `"BPE"`), "", robotmem.Invalid, `"BPE"`},
		{"an unknown normalizer", good, tokenizer(`"BertNormalizer"`, `"Shuffle"`), "", robotmem.Invalid, `"Shuffle"`},
		{"an unknown splitter", good, tokenizer(`"BertPreTokenizer"`, `"ByteLevel"`), "", robotmem.Invalid, `"ByteLevel"`},
		{"a token below zero", good, tokenizer(`"wet": 1`, `"wet": -1`), "", robotmem.Invalid, `"wet"`},
		{"no vocabulary", good, tokenizer(`"vocab": {`, `"vocab": {}, "old": {`), "", robotmem.Invalid, "empty"},
		{"an added token that is new", good, tokenizer(`"[UNK]", "special": true`, `"wet glass"`), "", robotmem.Invalid, `"wet glass" is not in the vocabulary`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := embedding.Open("model2vec:"+modelFolder(t, test.weights, test.tokenizer, test.config), embedding.Options{})
			if !errors.Is(err, test.kind) || !strings.Contains(err.Error(), test.text) {
				t.Errorf("got %v, want %s with %q", err, test.kind, test.text)
			}
		})
	}
}

func TestModel2VecThatIsNotANumber(t *testing.T) {
	nan := float32(math.NaN())
	dir := modelFolder(t, tensorFile(t, map[string]any{"embeddings": [][]float32{{1, 1}, {nan, 1}, {1, 1}, {1, 1}, {1, 1}, {1, 1}, {1, 1}}}), bertTokenizer, "")
	e := open(t, "model2vec:"+dir, embedding.Options{})
	if _, err := e.Embed(t.Context(), robotmem.ForMemory, []string{"wet"}); err == nil || !strings.Contains(err.Error(), "not finite") {
		t.Errorf("got %v, want an error", err)
	}
}

// BenchmarkModel2Vec embeds short texts with a model of the size of
// potion-base-8M: 30,000 tokens of 256 numbers.
func BenchmarkModel2Vec(b *testing.B) {
	const tokens, dim = 30_000, 256
	vocab := map[string]int{"[UNK]": 0}
	for i := 1; i < tokens; i++ {
		piece := fmt.Sprintf("w%d", i)
		if i%4 == 0 {
			piece = fmt.Sprintf("##%d", i)
		}
		vocab[piece] = i
	}
	for i, word := range strings.Fields("the wet glass slips at a grip force of below n") {
		vocab[word] = i + 1 // one of two tokens for this number
	}
	names, err := json.Marshal(vocab)
	if err != nil {
		b.Fatal(err)
	}
	tokenizer := regexp.MustCompile(`"vocab": \{[^}]*\}`).ReplaceAllLiteralString(bertTokenizer, `"vocab": `+string(names))
	values := make([]float32, tokens*dim)
	for i := range values {
		values[i] = float32(i%97) - 48
	}
	dir := modelFolder(b, tensorFile(b, map[string]any{"embeddings": rawOf(b, "F32", []int{tokens, dim}, values)}), tokenizer, "")
	e := open(b, "model2vec:"+dir, embedding.Options{})
	for name, text := range map[string]string{
		"short": "the wet glass slips at a grip force of below n",
		"long":  strings.Repeat("the wet glass slips at a grip force of below n ", 20),
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := e.Embed(b.Context(), robotmem.ForMemory, []string{text}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	b.Run("open", func(b *testing.B) {
		for b.Loop() {
			if _, err := embedding.Open("model2vec:"+dir, embedding.Options{}); err != nil {
				b.Fatal(err)
			}
		}
	})
}
