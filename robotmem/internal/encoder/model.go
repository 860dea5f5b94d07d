package encoder

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"sync"

	"github.com/x448/float16"
)

// A block of weights is 32 inputs with one scale. A group is eight outputs, whose blocks lie side by side.
const (
	blockSize   = 32
	groupSize   = 8
	groupBlock  = 2*groupSize + groupSize*blockSize/2 // bytes of a block of a group: scales, then weights
	tableBlock  = 2 + blockSize/2                     // bytes of a block of a row of the table
	headWidth   = 32                                  // of an attention head; the kernels have it built in
	headerBytes = 44
	magic       = "rmenc\x00\x00\x01"
)

// ErrDamaged means that the bytes of a model are not those that were written.
var ErrDamaged = errors.New("the model is damaged")

// Sections of a model, in the order of the file.
const (
	secOffsets    = iota // u32, of each piece in the blob, and the end
	secScores            // f32 of each piece: the logarithm of its probability
	secBlob              // the pieces in UTF-8, sorted by their bytes
	secCharacters        // for each: code point, count, and so many code points that replace it; sorted
	secSmall             // f32: biases and norms, in the order of Open
	secPositions         // f16, a row for each position, the type included
	secMatrices          // the weights, in the order of Open
	secTable             // a row for <s>, </s>, <unk> and then each piece
	sections
)

// Model is a transformer whose weights are where the caller has them. It is safe for concurrent use.
type Model struct {
	hidden, heads, inner, positions int
	epsilon                         float32
	tokens                          tokens
	normWeight, normBias            []float32
	positionRows, table             []byte
	layers                          []layer
	buffers                         sync.Pool // of *workspace
}

type layer struct {
	query, out, grow, shrink matrix // query has those of query, key and value
	attendWeight, attendBias []float32
	finalWeight, finalBias   []float32
}

// matrix has the weights of so many outputs.
type matrix struct {
	weights         []byte
	bias            []float32
	outputs, blocks int
}

// Open reads a model. The bytes must stay as they are while it is used: the large parts are not copied.
// It compares the checksums of all parts but the table, whose pages are read when a text needs them.
//
// The file is little-endian: the magic, then as u32 the width, layers, heads, inner width, positions, pieces
// and characters, as f32 the epsilon of norms and the score of an unknown character, and for each section
// offset and size as u64 and its CRC-32 as u32.
func Open(data []byte) (*Model, error) {
	const directory = headerBytes + sections*20
	if len(data) < directory || string(data[:len(magic)]) != magic {
		return nil, fmt.Errorf("%w: it does not begin as one", ErrDamaged)
	}

	u32 := func(at int) int { return int(binary.LittleEndian.Uint32(data[at:])) }
	f32 := func(at int) float32 { return math.Float32frombits(binary.LittleEndian.Uint32(data[at:])) }
	m := &Model{hidden: u32(8), heads: u32(16), inner: u32(20), positions: u32(24), epsilon: f32(36)}
	layers, pieces, characters := u32(12), u32(28), u32(32)
	// The kernels check no sizes, so a model that does not fit them must not be opened.
	if m.heads == 0 || m.hidden != m.heads*headWidth || m.inner%blockSize != 0 || layers > 100 || m.positions < 8 {
		return nil, fmt.Errorf("%w: its sizes do not fit", ErrDamaged)
	}

	var parts [sections][]byte
	for i := range parts {
		at := headerBytes + 20*i
		start, size := binary.LittleEndian.Uint64(data[at:]), binary.LittleEndian.Uint64(data[at+8:])
		// Subtract rather than add: the sum of two damaged numbers may overflow.
		if start > uint64(len(data)) || size > uint64(len(data))-start {
			return nil, fmt.Errorf("%w: part %d of %d is cut off", ErrDamaged, i+1, sections)
		}
		parts[i] = data[start : start+size : start+size]
		if i != secTable && crc32.ChecksumIEEE(parts[i]) != uint32(u32(at+16)) {
			return nil, fmt.Errorf("%w: part %d of %d has another checksum", ErrDamaged, i+1, sections)
		}
	}

	if len(parts[secTable]) != (specials+pieces)*m.rowBytes() || len(parts[secPositions]) != 2*m.positions*m.hidden {
		return nil, fmt.Errorf("%w: its tables do not fit", ErrDamaged)
	}

	m.table, m.positionRows = parts[secTable], parts[secPositions]

	var err error
	if m.tokens, err = newTokens(parts[:secSmall], pieces, characters, f32(40)); err != nil {
		return nil, err
	}

	return m, m.readLayers(layers, parts[secSmall], parts[secMatrices])
}

// readLayers divides the small tensors and the weights among the layers.
func (m *Model) readLayers(layers int, small, weights []byte) error {
	// Weights and biases of the norms, the biases of attention and of the output.
	const norms = 6
	perLayer := 3*m.hidden + norms*m.hidden + m.inner
	blocks := layers * (4*m.hidden*m.hidden + 2*m.hidden*m.inner) / (groupSize * blockSize)
	if len(small) != 4*(2*m.hidden+layers*perLayer) || len(weights) != blocks*groupBlock {
		return fmt.Errorf("%w: its weights do not fit", ErrDamaged)
	}

	// A copy, because float32 values must be aligned and those of the file need not be.
	values := make([]float32, len(small)/4)
	for i := range values {
		values[i] = math.Float32frombits(binary.LittleEndian.Uint32(small[4*i:]))
	}

	take := func(n int) []float32 {
		out := values[:n:n]
		values = values[n:]
		return out
	}
	takeMatrix := func(outputs, inputs int) matrix {
		n := outputs / groupSize * inputs / blockSize * groupBlock
		out := matrix{weights: weights[:n:n], outputs: outputs, blocks: inputs / blockSize}
		weights = weights[n:]
		return out
	}

	m.normWeight, m.normBias = take(m.hidden), take(m.hidden)

	m.layers = make([]layer, layers)
	for i := range m.layers {
		l := &m.layers[i]
		l.query, l.out = takeMatrix(3*m.hidden, m.hidden), takeMatrix(m.hidden, m.hidden)
		l.grow, l.shrink = takeMatrix(m.inner, m.hidden), takeMatrix(m.hidden, m.inner)
		l.query.bias, l.out.bias = take(3*m.hidden), take(m.hidden)
		l.attendWeight, l.attendBias = take(m.hidden), take(m.hidden)
		l.grow.bias, l.shrink.bias = take(m.inner), take(m.hidden)
		l.finalWeight, l.finalBias = take(m.hidden), take(m.hidden)
	}

	return nil
}

// Dimensions returns the length of a vector.
func (m *Model) Dimensions() int { return m.hidden }

func (m *Model) rowBytes() int { return m.hidden / blockSize * tableBlock }

// embed writes the row of a token and that of its position to out.
func (m *Model) embed(out []float32, token, position int) {
	row := m.table[token*m.rowBytes():][:m.rowBytes()]
	for b := 0; b < len(out); b += blockSize {
		scale := half(row)
		for j, q := range row[2:tableBlock] {
			// Weights are stored as 0 to 15 for -8 to 7.
			out[b+j] = float32(int(q&15)-8) * scale
			out[b+j+blockSize/2] = float32(int(q>>4)-8) * scale
		}
		row = row[tableBlock:]
	}

	at := m.positionRows[2*position*m.hidden:]
	for i := range out {
		out[i] += half(at[2*i:])
	}
}

// half returns the number of 16 bits that b begins with.
func half(b []byte) float32 { return float16.Frombits(binary.LittleEndian.Uint16(b)).Float32() }
