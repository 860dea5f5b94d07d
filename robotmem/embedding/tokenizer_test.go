package embedding

import (
	"encoding/binary"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestNormalizers(t *testing.T) {
	for _, test := range []struct{ name, json, text, want string }{
		{"none", `null`, " Ab ", " Ab "},
		{"lower", `{"type": "Lowercase"}`, "ÄB İ", "äb i\u0307"},
		{"NFC", `{"type": "NFC"}`, "e\u0301", "é"},
		{"NFD", `{"type": "NFD"}`, "é", "e\u0301"},
		{"NFKC", `{"type": "NFKC"}`, "ﬁ²", "fi2"},
		{"accents", `{"type": "Sequence", "normalizers": [{"type": "NFD"}, {"type": "StripAccents"}]}`, "éñ", "en"},
		{"strip", `{"type": "Strip", "strip_left": true, "strip_right": false}`, "  a  ", "a  "},
		{"strip the end", `{"type": "Strip", "strip_left": false, "strip_right": true}`, "  a  ", "  a"},
		{"replace", `{"type": "Replace", "pattern": {"String": " "}, "content": "▁"}`, "a b c", "a▁b▁c"},
		{"replace a pattern", `{"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": "$1"}`, "a   b c", "a$1b c"},
		{"BERT", `{"type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true, "strip_accents": null, "lowercase": true}`, "Él\tgeht\u0001 湿か\u00a0x\u200b", "el geht  湿 か x"},
		{"BERT with capitals", `{"type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": false, "strip_accents": null, "lowercase": false}`, "Él 湿", "Él 湿"},
		{"BERT with accents", `{"type": "BertNormalizer", "clean_text": false, "handle_chinese_chars": false, "strip_accents": false, "lowercase": true}`, "Él\u0001", "él\u0001"},
		{"a map", `{"type": "Precompiled", "precompiled_charsmap": "ALQC"}`, "ﬁne\tＡ ㎒\u200bcafe\u0301\u0001", "fine A MHz café"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var c *component
			if err := json.Unmarshal([]byte(test.json), &c); err != nil {
				t.Fatal(err)
			}
			n, err := readNormalizer(c)
			if err != nil {
				t.Fatal(err)
			}
			if got := n(test.text); got != test.want {
				t.Errorf("%q: got %q, want %q", test.text, got, test.want)
			}
		})
	}
}

func TestPreTokenizers(t *testing.T) {
	for _, test := range []struct{ name, json, text, want string }{
		{"none", `null`, "a b", "a b"},
		{"BERT", `{"type": "BertPreTokenizer"}`, " don't go_now a=b ...", "don|'|t|go|_|now|a|=|b|.|.|."},
		{"WhitespaceSplit", `{"type": "WhitespaceSplit"}`, " a  b.c ", "a|b.c"},
		{"Sequence", `{"type": "Sequence", "pretokenizers": [{"type": "WhitespaceSplit"}, {"type": "BertPreTokenizer"}]}`, "a. b-", "a|.|b|-"},
		{"Metaspace", `{"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": true}`, "a b  c", "▁a|▁b|▁|▁c"},
		{"Metaspace once", `{"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always"}`, " a", "▁a"},
		{"Metaspace of words", `{"type": "Sequence", "pretokenizers": [{"type": "WhitespaceSplit"}, {"type": "Metaspace", "replacement": "_", "add_prefix_space": true}]}`, "a b", "_a|_b"},
		{"Metaspace whole", `{"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": false}`, "a b", "▁a▁b"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var c *component
			if err := json.Unmarshal([]byte(test.json), &c); err != nil {
				t.Fatal(err)
			}
			split, err := readPreTokenizer(c)
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(split(test.text), "|"); got != test.want {
				t.Errorf("%q: got %q, want %q", test.text, got, test.want)
			}
		})
	}
}

const unigramJSON = `{
	"added_tokens": [{"id": 0, "content": "<unk>", "special": true}, {"id": 9, "content": "<mask>", "special": true}],
	"pre_tokenizer": {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always"},
	"model": {"type": "Unigram", "unk_id": 0, "byte_fallback": false, "vocab": [
		["<unk>", 0], ["▁", -2], ["a", -3], ["b", -3], ["ab", -4], ["▁a", -4.5], ["▁ab", -7.5], ["c", -6], ["bc", -9.5]]}
}`

func TestUnigram(t *testing.T) {
	for _, test := range []struct {
		text string
		want []int
	}{
		{"a", []int{5}},         // ▁a -4.5, and not ▁ a -5
		{"ab", []int{1, 4}},     // ▁ ab -6, and not ▁ab or ▁a b, both -7.5
		{"abc", []int{1, 4, 7}}, // ▁ ab c -12, and not ▁a bc -14
		{"cc", []int{1, 7, 7}},  //
		{"xyz", []int{1, 0}},    // unknown runes side by side are one token
		{"xay", []int{1, 0, 2, 0}},
		{"湿a", []int{1, 0, 2}},
		{"", nil},
	} {
		tk, err := readTokenizer([]byte(unigramJSON))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(test.want, tk.tokens(test.text)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", test.text, diff)
		}
	}
}

func TestUnsupportedTokenizers(t *testing.T) {
	model := `"model": {"type": "WordPiece", "vocab": {"a": 0}}`
	for text, file := range map[string]string{
		"has no pattern": `{"normalizer": {"type": "Replace", "content": ""}, ` + model + `}`,
		"the pattern":    `{"normalizer": {"type": "Replace", "pattern": {"Regex": "(?<=a)b"}, "content": ""}, ` + model + `}`,
		`"Nmt"`:          `{"normalizer": {"type": "Sequence", "normalizers": [{"type": "Nmt"}]}, ` + model + `}`,
		`"WordLevel"`:    `{"model": {"type": "WordLevel", "vocab": {"a": 0}}}`,
		`"Digits"`:       `{"pre_tokenizer": {"type": "Digits"}, ` + model + `}`,
		"scheme always":  `{"pre_tokenizer": {"type": "Metaspace", "prepend_scheme": "first"}, ` + model + `}`,
		`"Metaspace"`:    `{"pre_tokenizer": {"type": "Metaspace", "add_prefix_space": false}, ` + model + `}`,
		`"wet glass"`:    `{"added_tokens": [{"id": 1, "content": "wet glass"}], ` + model + `}`,
		"number 4 of 1":  `{"model": {"type": "Unigram", "unk_id": 4, "vocab": [["a", 0]]}}`,
		"token 0":        `{"model": {"type": "Unigram", "vocab": [[1, 0]]}}`,
		"the vocabulary": `{"model": {"type": "Unigram", "vocab": {}}}`,
	} {
		if _, err := readTokenizer([]byte(file)); err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("%s: got %v, want %q", file, err, text)
		}
	}
}

// The tokenizer never panics, and each token is below its size.
func FuzzTokenizer(f *testing.F) {
	f.Add([]byte(unigramJSON), "a b\xff湿")
	f.Add([]byte(`{"normalizer": {"type": "Precompiled", "precompiled_charsmap": ""}, "model": {"type": "WordPiece", "vocab": {"a": 0, "##b": 1}}}`), "ﬁab")
	f.Add([]byte(`{"pre_tokenizer": {"type": "WhitespaceSplit"}, "model": {"type": "WordPiece", "unk_token": "a", "vocab": {"a": 0}}}`), "a \r\n")
	f.Fuzz(func(t *testing.T, file []byte, text string) {
		tk, err := readTokenizer(file)
		if err != nil {
			return
		}
		for _, token := range tk.tokens(text) {
			if token < 0 || token >= tk.size {
				t.Fatalf("token %d of %d", token, tk.size)
			}
		}
	})
}

// The reader never panics or reads outside of the file.
func FuzzTensors(f *testing.F) {
	header := `{"embeddings":{"dtype":"F32","shape":[2,2],"data_offsets":[0,16]},"weights":{"dtype":"F16","shape":[2],"data_offsets":[16,20]}}`
	f.Add(append(append(binary.LittleEndian.AppendUint64(nil, uint64(len(header))), header...), make([]byte, 20)...))
	f.Fuzz(func(t *testing.T, file []byte) {
		m := &model2Vec{}
		if m.readWeights(file) != nil {
			return
		}
		for _, tensor := range []*tensor{m.vectors, m.weights} {
			if tensor == nil || tensor.rows == 0 || tensor.cols == 0 {
				continue
			}
			tensor.at(tensor.rows*tensor.cols - 1)
			tensor.addRow(make([]float32, tensor.cols), tensor.rows-1, 1)
		}
	})
}
