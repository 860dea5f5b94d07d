package embedding

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// testCharsmap is the character map that SentencePiece makes of the rules
// ﬁ → fi, Ａ → A, e with an acute accent after it → é, ㎒ → MHz, and nothing for
// a soft hyphen. It has only the units that a look-up can reach.
func testCharsmap() string {
	units := make([]uint32, 256)
	for at, unit := range map[int]uint32{
		0: 102400, 1: 212069, 2: 131276, 3: 7553, 4: 2147483658, 5: 3501, 6: 2147483648, 7: 160910, 8: 1426,
		9: 2147483651, 10: 131244, 11: 7553, 12: 2147483655, 13: 3489, 14: 2147483649, 26: 186556, 135: 14563,
		139: 46319, 166: 14530,
	} {
		units[at] = unit
	}
	data := binary.LittleEndian.AppendUint32(nil, uint32(4*len(units)))
	for _, u := range units {
		data = binary.LittleEndian.AppendUint32(data, u)
	}
	return base64.StdEncoding.EncodeToString(append(data, "\x00A\x00MHz\x00fi\x00é\x00"...))
}

func TestNormalizers(t *testing.T) {
	charsmap := `{"type": "Precompiled", "precompiled_charsmap": "` + testCharsmap() + `"}`
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
		{"a map", charsmap, "ﬁne Ａ", "fine A"},
		{"a map of clusters", charsmap, "cafe\u0301 e", "café e"},
		{"a map to nothing", charsmap, "soft\u00adhyphen", "softhyphen"},
		{"a map to more", charsmap, "9 ㎒ 湿", "9 MHz 湿"},
		{"a map and more marks", charsmap, "ﬁ\u0301e\u0301\u0302", "fié"},
		{"a map and too many marks", charsmap, "e\u0301\u0302\u0303", "e\u0301\u0302\u0303"},
		{"a mark after a control character", charsmap, "A\n\u0301", "A\n\u0301"},
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

// A damaged map may give other texts, but never a panic.
func TestCharsmapThatIsDamaged(t *testing.T) {
	data, err := base64.StdEncoding.DecodeString(testCharsmap())
	if err != nil {
		t.Fatal(err)
	}
	const text = "ﬁne cafe\u0301 Ａ ㎒"
	for i := 4; i < len(data); i++ { // behind the length
		for bit := range 8 {
			damaged := bytes.Clone(data)
			damaged[i] ^= 1 << bit
			normalize, err := readCharsmap(base64.StdEncoding.EncodeToString(damaged))
			if err != nil {
				t.Fatalf("byte %d: %v", i, err)
			}
			if got := normalize(text); !strings.Contains(got, "n") {
				t.Errorf("byte %d: got %q, which lost a letter that is not in the map", i, got)
			}
		}
	}
}

func TestPreTokenizers(t *testing.T) {
	for _, test := range []struct{ name, json, text, want string }{
		{"none", `null`, "a b", "a b"},
		{"BERT", `{"type": "BertPreTokenizer"}`, " don't go_now a=b ...", "don|'|t|go|_|now|a|=|b|.|.|."},
		{"Whitespace", `{"type": "Whitespace"}`, "don't go_now a=+b ...", "don|'|t|go_now|a|=+|b|..."},
		{"WhitespaceSplit", `{"type": "WhitespaceSplit"}`, " a  b.c ", "a|b.c"},
		{"Sequence", `{"type": "Sequence", "pretokenizers": [{"type": "WhitespaceSplit"}, {"type": "BertPreTokenizer"}]}`, "a. b-", "a|.|b|-"},
		{"Metaspace", `{"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": true}`, "a b  c", "▁a|▁b|▁|▁c"},
		{"Metaspace once", `{"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always"}`, " a", "▁a"},
		{"Metaspace never", `{"type": "Metaspace", "replacement": "▁", "prepend_scheme": "never"}`, "a b", "a|▁b"},
		{"Metaspace first", `{"type": "Sequence", "pretokenizers": [{"type": "WhitespaceSplit"}, {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "first"}]}`, "a b", "▁a|b"},
		{"Metaspace of old", `{"type": "Metaspace", "replacement": "_", "add_prefix_space": false}`, "a b", "a|_b"},
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
			if got := strings.Join(split(test.text, true), "|"); got != test.want {
				t.Errorf("%q: got %q, want %q", test.text, got, test.want)
			}
		})
	}
}

const unigramJSON = `{
	"added_tokens": [{"id": 9, "content": "<go>", "normalized": false}],
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
		{"a<go>b", []int{5, 9, 1, 3}},
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

func TestUnigramWithBytes(t *testing.T) {
	vocab := []string{`["<unk>", 0]`, `["▁", -1]`, `["a", -1]`}
	for b := range 256 {
		vocab = append(vocab, fmt.Sprintf(`["<0x%02X>", -9]`, b))
	}
	file := `{"model": {"type": "Unigram", "unk_id": 0, "byte_fallback": true, "vocab": [` + strings.Join(vocab, ",") + `]}}`
	tk, err := readTokenizer([]byte(file))
	if err != nil {
		t.Fatal(err)
	}
	want := []int{2, 3 + 0xc3, 3 + 0xa9, 2}
	if diff := cmp.Diff(want, tk.tokens("aéa")); diff != "" {
		t.Errorf("tokens (-want +got):\n%s", diff)
	}
}

func TestAddedTokens(t *testing.T) {
	file := `{
		"added_tokens": [
			{"id": 10, "content": "Wet Glass", "normalized": true},
			{"id": 11, "content": "Wet", "normalized": true, "single_word": true},
			{"id": 12, "content": "[X]", "normalized": false, "lstrip": true, "rstrip": true},
			{"id": 13, "content": "[X]Y", "normalized": false}],
		"normalizer": {"type": "Lowercase"},
		"model": {"type": "WordLevel", "unk_token": "?", "vocab": {"?": 0, "a": 1, " a": 2, "a ": 3, "wetter": 4, "[x]": 5}}
	}`
	tk, err := readTokenizer([]byte(file))
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string][]int{
		"a[X]a":      {1, 12, 1},
		"a  [X]  a":  {1, 12, 1},
		"a [X]Ya":    {3, 13, 1},
		"WET GLASSa": {10, 1},
		"wet a":      {11, 2},
		"wetter":     {4},
		"[x]":        {5},
		"b":          {0},
	} {
		if diff := cmp.Diff(want, tk.tokens(text)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", text, diff)
		}
	}
	if got, want := tk.size, 14; got != want {
		t.Errorf("got %d tokens, want %d", got, want)
	}
}

func TestUnsupportedTokenizers(t *testing.T) {
	model := `"model": {"type": "WordLevel", "vocab": {"a": 0}}`
	for text, file := range map[string]string{
		"has no pattern": `{"normalizer": {"type": "Replace", "content": ""}, ` + model + `}`,
		"the pattern":    `{"normalizer": {"type": "Replace", "pattern": {"Regex": "(?<=a)b"}, "content": ""}, ` + model + `}`,
		"is empty":       `{"normalizer": {"type": "Precompiled", "precompiled_charsmap": ""}, ` + model + `}`,
		"is cut off":     `{"normalizer": {"type": "Precompiled", "precompiled_charsmap": "AAQAAACQ"}, ` + model + `}`,
		"illegal base64": `{"normalizer": {"type": "Precompiled", "precompiled_charsmap": "%"}, ` + model + `}`,
		`"Nmt"`:          `{"normalizer": {"type": "Sequence", "normalizers": [{"type": "Nmt"}]}, ` + model + `}`,
		`"Digits"`:       `{"pre_tokenizer": {"type": "Digits"}, ` + model + `}`,
		`"sometimes"`:    `{"pre_tokenizer": {"type": "Metaspace", "prepend_scheme": "sometimes"}, ` + model + `}`,
		"number 4 of 1":  `{"model": {"type": "Unigram", "unk_id": 4, "vocab": [["a", 0]]}}`,
		"token 0":        `{"model": {"type": "Unigram", "vocab": [[1, 0]]}}`,
		"the vocabulary": `{"model": {"type": "Unigram", "vocab": {}}}`,
	} {
		if _, err := readTokenizer([]byte(file)); err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("%s: got %v, want %q", file, err, text)
		}
	}
}

func TestFloat16(t *testing.T) {
	for bits, want := range map[uint16]string{
		0x0000: "0", 0x8000: "-0", 0x3c00: "1", 0xc000: "-2", 0x3555: "0.333251953125", 0x7bff: "65504",
		0x0400: "6.103515625e-05", 0x0001: "5.960464477539063e-08", 0x83ff: "-6.097555160522461e-05",
		0x7c00: "+Inf", 0xfc00: "-Inf", 0x7e00: "NaN",
	} {
		if got := fmt.Sprint(float16(bits)); got != want {
			t.Errorf("%#04x: got %s, want %s", bits, got, want)
		}
	}
}

// The tokenizer never panics, and each token is below its size.
func FuzzTokenizer(f *testing.F) {
	f.Add([]byte(unigramJSON), "a b\xff湿")
	f.Add([]byte(`{"normalizer": {"type": "Precompiled", "precompiled_charsmap": "`+testCharsmap()+`"}, "model": {"type": "WordPiece", "vocab": {"a": 0, "##b": 1}}}`), "ﬁab")
	f.Add([]byte(`{"pre_tokenizer": {"type": "Whitespace"}, "model": {"type": "WordLevel", "unk_token": "a", "vocab": {"a": 0}}}`), "a \r\n")
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

// A look-up never leaves the map, and always ends.
func FuzzCharsmap(f *testing.F) {
	data, err := base64.StdEncoding.DecodeString(testCharsmap())
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data, "ﬁne cafe\u0301 ㎒")
	f.Fuzz(func(t *testing.T, data []byte, text string) {
		normalize, err := readCharsmap(base64.StdEncoding.EncodeToString(data))
		if err != nil {
			return
		}
		normalize(text)
	})
}

// The reader never panics or reads outside of the file.
func FuzzTensors(f *testing.F) {
	header := `{"embeddings":{"dtype":"F32","shape":[2,2],"data_offsets":[0,16]},"weights":{"dtype":"F16","shape":[2],"data_offsets":[16,20]}}`
	f.Add(append(append(binary.LittleEndian.AppendUint64(nil, uint64(len(header))), header...), make([]byte, 20)...))
	f.Fuzz(func(t *testing.T, file []byte) {
		tensors, err := readTensors(file)
		if err != nil {
			return
		}
		for _, tensor := range tensors {
			if tensor.rows == 0 || tensor.cols == 0 {
				continue
			}
			tensor.at(tensor.rows*tensor.cols - 1)
			tensor.addRow(make([]float32, tensor.cols), tensor.rows-1, 1)
		}
	})
}
