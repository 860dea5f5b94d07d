package embedding_test

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
)

// A GGUF file is a header with counts, metadata as typed key-value pairs, the
// names and shapes of the tensors, and their numbers, each aligned. All of it
// is little-endian. https://github.com/ggml-org/ggml/blob/master/docs/gguf.md

// ggufDim is the dimension of the vectors of the generated models.
const ggufDim = 64

const (
	feedForward  = 256
	contextSize  = 512
	alignment    = 32
	ggufVersion  = 3
	typeUint32   = 4
	typeInt32    = 5
	typeFloat32  = 6
	typeBool     = 7
	typeString   = 8
	typeArray    = 9
	tensorF32    = 0
	poolingMean  = 1
	tokenNormal  = 1
	tokenControl = 3
)

// The special tokens by their index in the vocabulary.
const (
	padToken = iota
	unknownToken
	clsToken
	sepToken
	maskToken
	specialTokens
)

// ggufModel returns a GGUF file: a BERT of one layer with random weights, the same
// for the same seed, of some 700 KB.
func ggufModel(seed uint64) []byte {
	tokens := vocabulary()
	w := &ggufWriter{random: rand.New(rand.NewPCG(seed, 1))}
	w.metadata(tokens)
	w.tensor("token_embd.weight", 1, ggufDim, len(tokens))
	w.tensor("token_types.weight", 0.1, ggufDim, 2)
	w.tensor("position_embd.weight", 0.1, ggufDim, contextSize)
	w.norm("token_embd_norm")
	for _, name := range []string{"attn_q", "attn_k", "attn_v", "attn_output"} {
		w.layer("blk.0."+name, ggufDim, ggufDim)
	}
	w.norm("blk.0.attn_output_norm")
	w.layer("blk.0.ffn_up", ggufDim, feedForward)
	w.layer("blk.0.ffn_down", feedForward, ggufDim)
	w.norm("blk.0.layer_output_norm")
	return w.file()
}

// vocabulary returns the tokens as converted BERT models spell them: with ▁ at the
// beginning of a word, without it within a word. Every ASCII word has tokens.
func vocabulary() []string {
	tokens := []string{"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"}
	const letters = "abcdefghijklmnopqrstuvwxyz0123456789"
	for r := '!'; r <= '~'; r++ {
		if r < 'A' || r > 'Z' {
			tokens = append(tokens, "▁"+string(r), string(r))
		}
	}
	for _, word := range []string{
		"grip", "force", "wet", "dry", "glass", "cup", "slip", "hold", "door", "open", "close", "push", "pull",
		"arm", "base", "wheel", "wall", "left", "right", "turn", "stop", "fast", "slow", "map", "pose", "lost",
		"peg", "hole", "insert", "torque", "joint", "camera", "light", "dark", "battery", "charge", "dock",
		"floor", "carpet", "tile", "stairs", "person", "box", "heavy", "the", "with", "and",
	} {
		tokens = append(tokens, "▁"+word) // none of two letters: Ollama aborts when a token stands twice
	}
	for _, a := range letters {
		for _, b := range letters[:26] {
			tokens = append(tokens, "▁"+string(a)+string(b))
		}
	}
	return tokens
}

// ggufWriter collects the parts of a file.
type ggufWriter struct {
	random  *rand.Rand
	pairs   bytes.Buffer
	nPairs  uint64
	infos   bytes.Buffer
	nInfos  uint64
	numbers bytes.Buffer
}

func (w *ggufWriter) metadata(tokens []string) {
	w.text("general.architecture", "bert")
	w.text("general.name", "robotmem test model")
	w.uint("bert.block_count", 1)
	w.uint("bert.context_length", contextSize)
	w.uint("bert.embedding_length", ggufDim)
	w.uint("bert.feed_forward_length", feedForward)
	w.uint("bert.attention.head_count", 4)
	w.pair("bert.attention.layer_norm_epsilon", typeFloat32, float32(1e-12))
	w.pair("bert.attention.causal", typeBool, false)
	w.uint("bert.pooling_type", poolingMean)
	w.text("tokenizer.ggml.model", "bert")
	w.text("tokenizer.ggml.pre", "default")
	w.uint("tokenizer.ggml.token_type_count", 2)
	w.uint("tokenizer.ggml.bos_token_id", clsToken)
	w.uint("tokenizer.ggml.cls_token_id", clsToken)
	w.uint("tokenizer.ggml.eos_token_id", sepToken)
	w.uint("tokenizer.ggml.seperator_token_id", sepToken) // the key's own spelling
	w.uint("tokenizer.ggml.unknown_token_id", unknownToken)
	w.uint("tokenizer.ggml.padding_token_id", padToken)
	w.uint("tokenizer.ggml.mask_token_id", maskToken)

	w.key("tokenizer.ggml.tokens", typeArray)
	put(&w.pairs, uint32(typeString), uint64(len(tokens)))
	for _, token := range tokens {
		putString(&w.pairs, token)
	}
	w.key("tokenizer.ggml.token_type", typeArray)
	put(&w.pairs, uint32(typeInt32), uint64(len(tokens)))
	for i := range tokens {
		kind := int32(tokenNormal)
		if i < specialTokens {
			kind = tokenControl
		}
		put(&w.pairs, kind)
	}
}

func (w *ggufWriter) key(name string, kind uint32) {
	w.nPairs++
	putString(&w.pairs, name)
	put(&w.pairs, kind)
}

func (w *ggufWriter) pair(name string, kind uint32, value any) {
	w.key(name, kind)
	put(&w.pairs, value)
}

func (w *ggufWriter) uint(name string, value uint32) { w.pair(name, typeUint32, value) }

func (w *ggufWriter) text(name, value string) {
	w.key(name, typeString)
	putString(&w.pairs, value)
}

// layer adds the weights and the bias of a layer from in to out numbers.
func (w *ggufWriter) layer(name string, in, out int) {
	w.tensor(name+".weight", 0.1, in, out)
	w.tensor(name+".bias", 0.01, out)
}

// norm adds a normalization that scales by about one.
func (w *ggufWriter) norm(name string) {
	w.fill(name+".weight", func() float32 { return 1 + 0.01*float32(w.random.NormFloat64()) }, ggufDim)
	w.tensor(name+".bias", 0.01, ggufDim)
}

// tensor adds normally distributed numbers. The first of dims is the contiguous
// dimension.
func (w *ggufWriter) tensor(name string, deviation float64, dims ...int) {
	w.fill(name, func() float32 { return float32(deviation * w.random.NormFloat64()) }, dims...)
}

func (w *ggufWriter) fill(name string, next func() float32, dims ...int) {
	w.nInfos++
	putString(&w.infos, name)
	put(&w.infos, uint32(len(dims)))
	n := 1
	for _, d := range dims {
		put(&w.infos, uint64(d))
		n *= d
	}
	put(&w.infos, uint32(tensorF32), uint64(w.numbers.Len()))
	values := make([]float32, n)
	for i := range values {
		values[i] = next()
	}
	put(&w.numbers, values)
	pad(&w.numbers)
}

func (w *ggufWriter) file() []byte {
	var out bytes.Buffer
	out.WriteString("GGUF")
	put(&out, uint32(ggufVersion), w.nInfos, w.nPairs)
	out.Write(w.pairs.Bytes())
	out.Write(w.infos.Bytes())
	pad(&out)
	out.Write(w.numbers.Bytes())
	return out.Bytes()
}

// put writes fixed-size values.
func put(b *bytes.Buffer, values ...any) {
	for _, v := range values {
		if err := binary.Write(b, binary.LittleEndian, v); err != nil {
			panic(err) // a value without a fixed size
		}
	}
}

func putString(b *bytes.Buffer, s string) {
	put(b, uint64(len(s)))
	b.WriteString(s)
}

func pad(b *bytes.Buffer) {
	b.Write(make([]byte, (alignment-b.Len()%alignment)%alignment))
}
