package encoder

import "golang.org/x/sys/cpu"

// neon are the kernels in assembly, for all processors.
var neon = kernels{"neon", quantizeAsm, multiplyAsm, addNormAsm, geluAsm, scoresAsm, softmaxAsm, mixAsm}

// neonDot has the multiplication for processors with dot products of bytes (FEAT_DotProd).
var neonDot = kernels{"neon+dot", quantizeAsm, multiplyDot, addNormAsm, geluAsm, scoresAsm, softmaxAsm, mixAsm}

// available returns the kernels that this processor can run, the fastest first.
func available() []*kernels {
	if cpu.ARM64.HasASIMDDP {
		return []*kernels{&neonDot, &neon, &plain}
	}
	return []*kernels{&neon, &plain}
}

func multiplyDot(out []float32, stride int, weights, tile []byte, bias []float32) {
	_, _, _ = out[(tileTokens-1)*stride+groupSize-1], tile[len(weights)/groupBlock*tileBlock-1], bias[groupSize-1]
	multiplyBlocksDot(&out[0], stride*4, &weights[0], &tile[0], &bias[0], len(weights)/groupBlock)
}

//go:noescape
func multiplyBlocksDot(out *float32, strideBytes int, weights, tile *byte, bias *float32, blocks int)
