#include "textflag.h"

// COUNT sets each byte of to to its number of bits that are set in large and differ from signs. Y14
// has the number of bits of each half byte (Mula, Kurz and Lemire 2018), Y15 masks half bytes.
#define COUNT(at, signs, large, to) \
	VPXOR   at(SI), signs, to \
	VPAND   large, to, to     \
	VPSRLW  $4, to, Y7        \
	VPAND   Y15, to, to       \
	VPAND   Y15, Y7, Y7       \
	VPSHUFB to, Y14, to       \
	VPSHUFB Y7, Y14, Y7       \
	VPADDB  Y7, to, to

// PAIR sets the low 32 bits of to in each 64 to counts of one code, the high ones to those of the
// next. A code has six words, so that three registers hold two codes. Y6 is zero.
#define PAIR(at, to) \
	COUNT(at, Y8, Y11, to)          \
	COUNT(at+32, Y9, Y12, Y4)       \
	COUNT(at+64, Y10, Y13, Y5)      \
	VPBLENDD $0x0f, Y4, Y6, Y7      \
	VPADDB   Y7, to, to             \
	VPBLENDD $0xf0, Y4, Y6, Y7      \
	VPADDB   Y7, Y5, Y5             \
	VPSADBW  Y6, to, to             \
	VPSADBW  Y6, Y5, Y5             \
	VPSLLQ   $32, Y5, Y5            \
	VPOR     Y5, to, to

DATA ones<>+0(SB)/8, $0x0302020102010100
DATA ones<>+8(SB)/8, $0x0403030203020201
GLOBL ones<>(SB), RODATA|NOPTR, $16

// func above6(signs *uint64, terms *float32, q *[12]uint64, large int64, factor, bound float32) (mask uint64)
// 64 codes of six words and two terms each. Bit i of mask is set if the estimate of code i, as
// question.glance computes it, is above bound. q has the signs of the query and then the bits of
// its large components, of which there are so many.
TEXT ·above6(SB), NOSPLIT, $0-48
	MOVQ           signs+0(FP), SI
	MOVQ           terms+8(FP), R8
	MOVQ           q+16(FP), DI
	VMOVDQU        (DI), Y8          // words 0 to 3
	VBROADCASTI128 (DI), Y9
	VMOVDQU        32(DI), X10
	VPBLENDD       $0xf0, Y9, Y10, Y9 // 4, 5, 0, 1
	VMOVDQU        16(DI), Y10        // 2 to 5
	VMOVDQU        48(DI), Y11        // and as much for the large components
	VBROADCASTI128 48(DI), Y12
	VMOVDQU        80(DI), X13
	VPBLENDD       $0xf0, Y12, Y13, Y12
	VMOVDQU        64(DI), Y13
	VBROADCASTI128 ones<>(SB), Y14
	MOVQ           $0x0f0f0f0f, DX
	VMOVD          DX, X15
	VPBROADCASTD   X15, Y15
	VPXOR          Y6, Y6, Y6
	XORQ           AX, AX
	MOVQ           $16, CX

four: // codes at a time
	PAIR(0, Y0)
	PAIR(96, Y1)
	VPUNPCKLQDQ  Y1, Y0, Y2
	VPUNPCKHQDQ  Y1, Y0, Y3
	VPADDD       Y3, Y2, Y0
	VEXTRACTI128 $1, Y0, X1
	VPADDD       X1, X0, X0
	VPADDD       X0, X0, X0
	VPBROADCASTD large+24(FP), X1
	VPSUBD       X0, X1, X0
	VCVTDQ2PS    X0, X0
	VBROADCASTSS factor+32(FP), X1
	VMULPS       X1, X0, X0
	VMOVUPS      (R8), X2
	VMOVUPS      16(R8), X3
	VSHUFPS      $0x88, X3, X2, X1  // scales
	VSHUFPS      $0xdd, X3, X2, X2  // shifts
	VMULPS       X1, X0, X0
	VADDPS       X2, X0, X0
	VBROADCASTSS bound+36(FP), X1
	VCMPPS       $1, X0, X1, X1     // below
	VMOVMSKPS    X1, DX
	SHLQ         $60, DX
	SHRQ         $4, AX
	ORQ          DX, AX
	PREFETCHT0   4096(SI)           // the hardware stops at the end of a page
	PREFETCHT0   4160(SI)
	PREFETCHT0   4224(SI)
	ADDQ         $192, SI
	ADDQ         $32, R8
	DECQ         CX
	JNZ          four
	VZEROUPPER
	MOVQ         AX, mask+40(FP)
	RET
