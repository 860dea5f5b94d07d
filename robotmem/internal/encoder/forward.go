package encoder

import "math"

// tileTokens is the number of tokens that a kernel multiplies at a time, so that it unpacks weights once
// for all of them.
const tileTokens = 4

// tileBlock is the size of a block of activations of a tile: 32 bytes of each token, then the scale of
// each (f32), then eight times the sum of each (i32).
const tileBlock = tileTokens * (blockSize + 4 + 4)

// workspace has the memory of one pass over some tokens.
type workspace struct {
	tokens     int       // room for so many, a multiple of tileTokens
	x          []float32 // tokens × hidden: what a layer reads and writes
	query      []float32 // tokens × 3 hidden: query, key and value
	mixed, out []float32 // tokens × hidden
	inner      []float32 // tokens × inner
	quantized  []byte    // tiles × blocks × tileBlock
	keys       []float32 // headWidth × padded tokens: the keys of a head, transposed
	weights    []float32 // padded tokens: of the attention of one query
}

// padded rounds up to the width of a register.
func padded(n int) int { return (n + groupSize - 1) / groupSize * groupSize }

func tiled(n int) int { return (n + tileTokens - 1) / tileTokens * tileTokens }

func (m *Model) workspace(tokens int) *workspace {
	tokens = tiled(tokens)
	if w, ok := m.buffers.Get().(*workspace); ok && w.tokens >= tokens {
		return w
	}
	// At least 32 tokens, so that short texts can share the workspaces of the pool.
	n := padded(max(tokens, 32))

	return &workspace{
		tokens: n,
		x:      make([]float32, n*m.hidden),
		query:  make([]float32, n*3*m.hidden),
		mixed:  make([]float32, n*m.hidden),
		out:    make([]float32, n*m.hidden),
		inner:  make([]float32, n*m.inner),

		quantized: make([]byte, n/tileTokens*(m.inner/blockSize)*tileBlock),
		keys:      make([]float32, headWidth*n),
		weights:   make([]float32, n),
	}
}

// encode adds the mean of the outputs for some tokens, times a weight, to sum.
func (m *Model) encode(k *kernels, tokens []int32, weight float32, sum []float32) {
	n := len(tokens)
	w := m.workspace(n)
	defer m.buffers.Put(w)

	for i, token := range tokens {
		x := w.x[i*m.hidden:][:m.hidden]
		m.embed(x, int(token), i)
		k.addNorm(x, nil, m.normWeight, m.normBias, m.epsilon)
	}

	for i := range m.layers {
		m.pass(k, &m.layers[i], w, n)
	}

	for i := range tokens {
		for j, x := range w.x[i*m.hidden:][:m.hidden] {
			sum[j] += weight / float32(n) * x
		}
	}
}

// pass computes one layer for the first n tokens of a workspace.
func (m *Model) pass(k *kernels, l *layer, w *workspace, n int) {
	m.quantize(k, w, w.x, m.hidden, n)
	multiply(k, l.query, w, w.query, n)

	for head := range m.heads {
		m.attend(k, w, head, n)
	}

	m.quantize(k, w, w.mixed, m.hidden, n)
	multiply(k, l.out, w, w.out, n)

	for i := range n {
		k.addNorm(w.x[i*m.hidden:][:m.hidden], w.out[i*m.hidden:], l.attendWeight, l.attendBias, m.epsilon)
	}

	m.quantize(k, w, w.x, m.hidden, n)
	multiply(k, l.grow, w, w.inner, n)
	k.gelu(w.inner[:n*m.inner])
	m.quantize(k, w, w.inner, m.inner, n)
	multiply(k, l.shrink, w, w.out, n)

	for i := range n {
		k.addNorm(w.x[i*m.hidden:][:m.hidden], w.out[i*m.hidden:], l.finalWeight, l.finalBias, m.epsilon)
	}
}

// quantize rounds n rows of a width for multiply. The rows that fill the last tile are zero.
func (m *Model) quantize(k *kernels, w *workspace, rows []float32, width, n int) {
	blocks := width / blockSize
	for i := range tiled(n) {
		tile := w.quantized[i/tileTokens*blocks*tileBlock:]
		if i < n {
			k.quantize(tile, rows[i*width:][:width], i%tileTokens)
		} else {
			clearLane(tile, blocks, i%tileTokens)
		}
	}
}

func clearLane(tile []byte, blocks, lane int) {
	for b := range blocks {
		block := tile[b*tileBlock:][:tileBlock]
		clear(block[lane*blockSize:][:blockSize])
		clear(block[tileTokens*blockSize+4*lane:][:4])
		clear(block[tileTokens*(blockSize+4)+4*lane:][:4])
	}
}

// multiply writes the products of a matrix with the rows that quantize has rounded to out.
func multiply(k *kernels, a matrix, w *workspace, out []float32, n int) {
	groupBytes, tileBytes := a.blocks*groupBlock, a.blocks*tileBlock
	for g := range a.outputs / groupSize {
		weights := a.weights[g*groupBytes:][:groupBytes]
		bias := a.bias[g*groupSize:][:groupSize]

		// All tiles for one group of weights, so that the weights are read from memory once.
		for t := 0; t < n; t += tileTokens {
			tile := w.quantized[t/tileTokens*tileBytes:][:tileBytes]
			k.multiply(out[t*a.outputs+g*groupSize:], a.outputs, weights, tile, bias)
		}
	}
}

// attend writes the mix of values that one head makes for each of the first n tokens.
func (m *Model) attend(k *kernels, w *workspace, head, n int) {
	stride, wide := 3*m.hidden, padded(n)

	at := head * headWidth
	for i := range n {
		for j, x := range w.query[i*stride+m.hidden+at:][:headWidth] {
			w.keys[j*wide+i] = x
		}
	}

	// The kernels read whole registers, and the buffer still has the keys of a longer text.
	for j := range headWidth {
		clear(w.keys[j*wide+n : (j+1)*wide])
	}

	scale := float32(1 / math.Sqrt(headWidth))
	for i := range n {
		k.scores(w.weights[:wide], w.query[i*stride+at:][:headWidth], w.keys)
		k.softmax(w.weights[:wide], n, scale)
		k.mix(w.mixed[i*m.hidden+at:][:headWidth], w.weights[:n], w.query[2*m.hidden+at:], stride)
	}
}
