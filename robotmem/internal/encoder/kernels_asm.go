//go:build amd64 || arm64

package encoder

// The functions below check bounds for those in assembly, which have the same names on both processors.

func quantizeAsm(tile []byte, row []float32, lane int) {
	_ = tile[len(row)/blockSize*tileBlock-1]
	quantizeBlocks(&tile[lane*blockSize], &tile[tileTokens*blockSize+4*lane], &row[0], len(row)/blockSize)
}

func multiplyAsm(out []float32, stride int, weights, tile []byte, bias []float32) {
	_, _, _ = out[(tileTokens-1)*stride+groupSize-1], tile[len(weights)/groupBlock*tileBlock-1], bias[groupSize-1]
	multiplyBlocks(&out[0], stride*4, &weights[0], &tile[0], &bias[0], len(weights)/groupBlock)
}

func addNormAsm(x, y, weight, bias []float32, epsilon float32) {
	n := len(x)
	_, _ = weight[n-1], bias[n-1]
	if y == nil {
		normRow(&x[0], &weight[0], &bias[0], n, epsilon, 1/float32(n))
		return
	}
	_ = y[n-1]
	addRow(&x[0], &y[0], n)
	normRow(&x[0], &weight[0], &bias[0], n, epsilon, 1/float32(n))
}

func geluAsm(x []float32) { geluRow(&x[0], len(x)) }

func scoresAsm(out, query, keys []float32) {
	_, _ = query[headWidth-1], keys[headWidth*len(out)-1]
	scoreRow(&out[0], &query[0], &keys[0], len(out))
}

func softmaxAsm(x []float32, n int, scale float32) {
	largest := x[0]
	for _, v := range x[1:n] {
		largest = max(largest, v)
	}
	expRow(&x[0], len(x), scale, largest)

	sum := float32(0)
	for _, v := range x[:n] {
		sum += v
	}

	inverse := 1 / sum
	for i := range x[:n] {
		x[i] *= inverse
	}
}

func mixAsm(out, weights, values []float32, stride int) {
	_, _ = out[headWidth-1], values[(len(weights)-1)*stride+headWidth-1]
	mixRows(&out[0], &weights[0], &values[0], stride*4, len(weights))
}

//go:noescape
func quantizeBlocks(bytes, scales *byte, row *float32, blocks int)

//go:noescape
func multiplyBlocks(out *float32, strideBytes int, weights, tile *byte, bias *float32, blocks int)

//go:noescape
func addRow(x, y *float32, n int)

//go:noescape
func normRow(x, weight, bias *float32, n int, epsilon, inverse float32)

//go:noescape
func geluRow(x *float32, n int)

//go:noescape
func scoreRow(out, query, keys *float32, n int)

//go:noescape
func expRow(x *float32, n int, scale, largest float32)

//go:noescape
func mixRows(out, weights, values *float32, strideBytes, n int)
