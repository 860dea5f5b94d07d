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

// func above6(signs *uint64, terms *float32, q *[12]uint64, nextSigns *uint64, nextTerms *float32, large int64, factor, bound float32) (mask uint64)
// 64 codes of six words and two terms each. Bit i of mask is set if the estimate of code i, as
// question.glance computes it, is above bound. q has the signs of the query and then the bits of
// its large components, of which there are so many. The codes of the next call are fetched meanwhile.
TEXT ·above6(SB), NOSPLIT, $0-64
	MOVQ           signs+0(FP), SI
	MOVQ           terms+8(FP), R8
	MOVQ           q+16(FP), DI
	MOVQ           nextSigns+24(FP), R9
	MOVQ           nextTerms+32(FP), R10
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
	VPBROADCASTD large+40(FP), X1
	VPSUBD       X0, X1, X0
	VCVTDQ2PS    X0, X0
	VBROADCASTSS factor+48(FP), X1
	VMULPS       X1, X0, X0
	VMOVUPS      (R8), X2
	VMOVUPS      16(R8), X3
	VSHUFPS      $0x88, X3, X2, X1  // scales
	VSHUFPS      $0xdd, X3, X2, X2  // shifts
	VMULPS       X1, X0, X0
	VADDPS       X2, X0, X0
	VBROADCASTSS bound+52(FP), X1
	VCMPPS       $1, X0, X1, X1     // below
	VMOVMSKPS    X1, DX
	SHLQ         $60, DX
	SHRQ         $4, AX
	ORQ          DX, AX
	PREFETCHT0   (R9)
	PREFETCHT0   64(R9)
	PREFETCHT0   128(R9)
	PREFETCHT0   (R10)
	ADDQ         $192, R9
	ADDQ         $32, R10
	ADDQ         $192, SI
	ADDQ         $32, R8
	DECQ         CX
	JNZ          four
	VZEROUPPER
	MOVQ         AX, mask+56(FP)
	RET

// PLANE adds to BX what one plane of the query has in common with the high bits of a code in R11,
// counted twice, and with its low bits in R12, times the value of the plane.
#define PLANE(at, shift) \
	MOVQ    at(DI), R13      \
	MOVQ    R13, DX          \
	ANDQ    R11, R13         \
	ANDQ    R12, DX          \
	POPCNTQ R13, R13         \
	POPCNTQ DX, DX           \
	LEAQ    (DX)(R13*2), R13 \
	SHLQ    $shift, R13      \
	ADDQ    R13, BX

// func counts(signs, lows, planes *uint64, words int) (ones, sum int)
// Both counts of planes.product.
TEXT ·counts(SB), NOSPLIT, $0-48
	MOVQ signs+0(FP), SI
	MOVQ lows+8(FP), R8
	MOVQ planes+16(FP), DI
	MOVQ words+24(FP), CX
	XORQ AX, AX
	XORQ BX, BX

word:
	MOVQ    (SI), R11
	MOVQ    (R8), R12
	POPCNTQ R11, R9
	POPCNTQ R12, R10
	LEAQ    (R10)(R9*2), R9
	ADDQ    R9, AX
	PLANE(0, 0)
	PLANE(8, 1)
	PLANE(16, 2)
	PLANE(24, 3)
	PLANE(32, 4)
	PLANE(40, 5)
	ADDQ    $8, SI
	ADDQ    $8, R8
	ADDQ    $48, DI
	DECQ    CX
	JNZ     word
	MOVQ    AX, ones+32(FP)
	MOVQ    BX, sum+40(FP)
	RET
