package encoder

import "golang.org/x/sys/cpu"

// avx2 are the kernels in assembly, for processors with AVX2, FMA and F16C (all with AVX2 have the latter).
var avx2 = kernels{"avx2", quantizeAsm, multiplyAsm, addNormAsm, geluAsm, scoresAsm, softmaxAsm, mixAsm}

// available returns the kernels that this processor can run, the fastest first.
func available() []*kernels {
	if cpu.X86.HasAVX2 && cpu.X86.HasFMA {
		return []*kernels{&avx2, &plain}
	}
	return []*kernels{&plain}
}
