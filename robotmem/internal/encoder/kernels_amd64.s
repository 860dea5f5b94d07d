#include "textflag.h"

// Constants of eight equal numbers are loaded with VBROADCASTSS.
DATA consts<>+0x00(SB)/4, $0x7fffffff  // all bits but the sign
DATA consts<>+0x04(SB)/4, $0x42fe0000  // 127
DATA consts<>+0x08(SB)/4, $0x3fb8aa3b  // log2(e)
DATA consts<>+0x0c(SB)/4, $0xbf317200  // -ln(2), the high part
DATA consts<>+0x10(SB)/4, $0xb5bfbe8e  // -ln(2), the rest
DATA consts<>+0x14(SB)/4, $0x3ab60b61  // 1/720: the series of exp, from the highest
DATA consts<>+0x18(SB)/4, $0x3c088889  // 1/120
DATA consts<>+0x1c(SB)/4, $0x3d2aaaab  // 1/24
DATA consts<>+0x20(SB)/4, $0x3e2aaaab  // 1/6
DATA consts<>+0x24(SB)/4, $0x3f000000  // 1/2
DATA consts<>+0x28(SB)/4, $0x3f800000  // 1
DATA consts<>+0x2c(SB)/4, $0xc2ae0000  // -87: exp of less is nearly 0
DATA consts<>+0x30(SB)/4, $0x3f3504f3  // 1/sqrt(2)
DATA consts<>+0x34(SB)/4, $0x3ea7ba05  // p of erf
DATA consts<>+0x38(SB)/4, $0x3f87dc22  // a5
DATA consts<>+0x3c(SB)/4, $0xbfba00e3  // a4
DATA consts<>+0x40(SB)/4, $0x3fb5f0e3  // a3
DATA consts<>+0x44(SB)/4, $0xbe91a98e  // a2
DATA consts<>+0x48(SB)/4, $0x3e827906  // a1
GLOBL consts<>(SB), RODATA|NOPTR, $76

DATA order<>+0x00(SB)/4, $0
DATA order<>+0x04(SB)/4, $4
DATA order<>+0x08(SB)/4, $1
DATA order<>+0x0c(SB)/4, $5
DATA order<>+0x10(SB)/4, $2
DATA order<>+0x14(SB)/4, $6
DATA order<>+0x18(SB)/4, $3
DATA order<>+0x1c(SB)/4, $7
GLOBL order<>(SB), RODATA|NOPTR, $32

// func quantizeBlocks(bytes, scales *byte, row *float32, blocks int)
// Each 32 numbers become bytes: x × 127 / max|x|, rounded. The scale max|x| / 127 goes to scales, and eight
// times the sum of the bytes 16 bytes behind it.
TEXT ·quantizeBlocks(SB), NOSPLIT, $0-32
	MOVQ         bytes+0(FP), DI
	MOVQ         scales+8(FP), R8
	MOVQ         row+16(FP), SI
	MOVQ         blocks+24(FP), CX
	VBROADCASTSS consts<>+0x00(SB), Y15
	VMOVSS       consts<>+0x04(SB), X14
	VMOVDQU      order<>(SB), Y13
	VPCMPEQW     Y12, Y12, Y12
	VPABSB       Y12, Y11            // bytes of 1
	VPSRLW       $15, Y12, Y12       // words of 1
	VXORPS       X10, X10, X10

block:
	VMOVUPS      (SI), Y0
	VMOVUPS      32(SI), Y1
	VMOVUPS      64(SI), Y2
	VMOVUPS      96(SI), Y3
	VANDPS       Y15, Y0, Y4
	VANDPS       Y15, Y1, Y5
	VANDPS       Y15, Y2, Y6
	VANDPS       Y15, Y3, Y7
	VMAXPS       Y5, Y4, Y4
	VMAXPS       Y7, Y6, Y6
	VMAXPS       Y6, Y4, Y4
	VEXTRACTF128 $1, Y4, X5
	VMAXPS       X5, X4, X4
	VPSHUFD      $0x4e, X4, X5
	VMAXPS       X5, X4, X4
	VPSHUFD      $0xb1, X4, X5
	VMAXPS       X5, X4, X4
	VDIVSS       X14, X4, X5
	VMOVSS       X5, (R8)
	VDIVSS       X4, X14, X5
	VUCOMISS     X10, X4
	JNE          scaled
	VXORPS       X5, X5, X5          // all are 0

scaled:
	VBROADCASTSS X5, Y5
	VMULPS       Y5, Y0, Y0
	VMULPS       Y5, Y1, Y1
	VMULPS       Y5, Y2, Y2
	VMULPS       Y5, Y3, Y3
	VCVTPS2DQ    Y0, Y0
	VCVTPS2DQ    Y1, Y1
	VCVTPS2DQ    Y2, Y2
	VCVTPS2DQ    Y3, Y3
	VPACKSSDW    Y1, Y0, Y0
	VPACKSSDW    Y3, Y2, Y2
	VPACKSSWB    Y2, Y0, Y0
	VPERMD       Y0, Y13, Y0
	VMOVDQU      Y0, (DI)
	VPMADDUBSW   Y0, Y11, Y0
	VPMADDWD     Y12, Y0, Y0
	VEXTRACTI128 $1, Y0, X1
	VPADDD       X1, X0, X0
	VPSHUFD      $0x4e, X0, X1
	VPADDD       X1, X0, X0
	VPSHUFD      $0xb1, X0, X1
	VPADDD       X1, X0, X0
	VPSLLD       $3, X0, X0
	VMOVD        X0, 16(R8)
	ADDQ         $128, SI
	ADDQ         $160, DI
	ADDQ         $160, R8
	DECQ         CX
	JNZ          block
	VZEROUPPER
	RET

// TOKEN adds the products of the weights in Y1 and four bytes of a token to acc, as words.
#define TOKEN(at, acc) \
	VPBROADCASTD at(BX), Y2     \
	VPMADDUBSW   Y2, Y1, Y2     \
	VPADDW       Y2, acc, acc

#define TOKENS(at) \
	TOKEN(at, Y8)         \
	TOKEN(at + 32, Y9)    \
	TOKEN(at + 64, Y10)   \
	TOKEN(at + 96, Y11)

// FIRST is TOKEN for the first products of a block.
#define FIRST(at, acc) \
	VPBROADCASTD at(BX), Y2     \
	VPMADDUBSW   Y2, Y1, acc

// WEIGHTS sets Y1 to the low halves and then, after the products with at, to the high halves of 32 bytes.
#define WEIGHTS(from, at) \
	VMOVDQU from(SI), Y0    \
	VPAND   Y7, Y0, Y1      \
	TOKENS(at)              \
	VPSRLW  $4, Y0, Y0      \
	VPAND   Y7, Y0, Y1      \
	TOKENS(at + 16)

// BLOCK adds a block of one token, whose products are words in acc, to its sums.
#define BLOCK(scale, acc, sums) \
	VPMADDWD     Y6, acc, acc          \
	VPBROADCASTD scale + 16(BX), Y2    \
	VPSUBD       Y2, acc, acc          \
	VCVTDQ2PS    acc, acc              \
	VBROADCASTSS scale(BX), Y2         \
	VMULPS       Y2, Y5, Y2            \
	VFMADD231PS  acc, Y2, sums

// func multiplyBlocks(out *float32, strideBytes int, weights, tile *byte, bias *float32, blocks int)
// Weights are 0 to 15 and 8 too large, so that eight times the sum of the activations is subtracted. A word
// holds the sum of 16 products of at most 15 × 127.
TEXT ·multiplyBlocks(SB), NOSPLIT, $0-48
	MOVQ     out+0(FP), DI
	MOVQ     strideBytes+8(FP), DX
	MOVQ     weights+16(FP), SI
	MOVQ     tile+24(FP), BX
	MOVQ     bias+32(FP), AX
	MOVQ     blocks+40(FP), CX
	VMOVUPS  (AX), Y12
	VMOVAPS  Y12, Y13
	VMOVAPS  Y12, Y14
	VMOVAPS  Y12, Y15
	VPCMPEQW Y6, Y6, Y6
	VPSRLW   $15, Y6, Y6            // words of 1
	VPSRLW   $4, Y6, Y7
	VPCMPEQW Y7, Y7, Y7
	VPSRLW   $12, Y7, Y7
	VPSLLW   $8, Y7, Y0
	VPOR     Y0, Y7, Y7             // bytes of 15

loop:
	VCVTPH2PS (SI), Y5
	VMOVDQU   16(SI), Y0
	VPAND     Y7, Y0, Y1
	FIRST(0, Y8)
	FIRST(32, Y9)
	FIRST(64, Y10)
	FIRST(96, Y11)
	VPSRLW    $4, Y0, Y0
	VPAND     Y7, Y0, Y1
	TOKENS(16)
	WEIGHTS(48, 4)
	WEIGHTS(80, 8)
	WEIGHTS(112, 12)
	BLOCK(128, Y8, Y12)
	BLOCK(132, Y9, Y13)
	BLOCK(136, Y10, Y14)
	BLOCK(140, Y11, Y15)
	ADDQ      $144, SI
	ADDQ      $160, BX
	DECQ      CX
	JNZ       loop
	VMOVUPS   Y12, (DI)
	ADDQ      DX, DI
	VMOVUPS   Y13, (DI)
	ADDQ      DX, DI
	VMOVUPS   Y14, (DI)
	ADDQ      DX, DI
	VMOVUPS   Y15, (DI)
	VZEROUPPER
	RET

// func addRow(x, y *float32, n int)
TEXT ·addRow(SB), NOSPLIT, $0-24
	MOVQ x+0(FP), DI
	MOVQ y+8(FP), SI
	MOVQ n+16(FP), CX

add:
	VMOVUPS (DI), Y0
	VADDPS  (SI), Y0, Y0
	VMOVUPS Y0, (DI)
	ADDQ    $32, SI
	ADDQ    $32, DI
	SUBQ    $8, CX
	JG      add
	VZEROUPPER
	RET

// TOTAL sets each lane of y to the sum of its eight lanes; x is its low half, t and tx a free register.
#define TOTAL(y, x, t, tx) \
	VEXTRACTF128 $1, y, tx      \
	VADDPS       tx, x, x       \
	VPSHUFD      $0x4e, x, tx   \
	VADDPS       tx, x, x       \
	VPSHUFD      $0xb1, x, tx   \
	VADDPS       tx, x, x       \
	VBROADCASTSS x, y

// func normRow(x, weight, bias *float32, n int, epsilon, inverse float32)
// x = (x - mean) / sqrt(variance + epsilon) × weight + bias; inverse is 1/n.
TEXT ·normRow(SB), NOSPLIT, $0-40
	MOVQ         x+0(FP), DI
	MOVQ         weight+8(FP), SI
	MOVQ         bias+16(FP), BX
	MOVQ         n+24(FP), CX
	VBROADCASTSS inverse+36(FP), Y7
	VXORPS       Y0, Y0, Y0
	MOVQ         DI, R8
	MOVQ         CX, R9

sum:
	VADDPS (R8), Y0, Y0
	ADDQ   $32, R8
	SUBQ   $8, R9
	JG     sum
	TOTAL(Y0, X0, Y1, X1)
	VMULPS Y7, Y0, Y0               // mean
	VXORPS Y2, Y2, Y2
	MOVQ   DI, R8
	MOVQ   CX, R9

squares:
	VMOVUPS     (R8), Y3
	VSUBPS      Y0, Y3, Y3
	VFMADD231PS Y3, Y3, Y2
	ADDQ        $32, R8
	SUBQ        $8, R9
	JG          squares
	TOTAL(Y2, X2, Y1, X1)
	VMULPS       Y7, Y2, Y2
	VBROADCASTSS epsilon+32(FP), Y4
	VADDPS       Y4, Y2, Y2
	VSQRTPS      Y2, Y2
	VBROADCASTSS consts<>+0x28(SB), Y4
	VDIVPS       Y2, Y4, Y2

scale:
	VMOVUPS     (DI), Y3
	VSUBPS      Y0, Y3, Y3
	VMULPS      Y2, Y3, Y3
	VMOVUPS     (BX), Y4
	VFMADD231PS (SI), Y3, Y4
	VMOVUPS     Y4, (DI)
	ADDQ        $32, DI
	ADDQ        $32, SI
	ADDQ        $32, BX
	SUBQ        $8, CX
	JG          scale
	VZEROUPPER
	RET

// EXPCONSTS loads what EXP needs.
#define EXPCONSTS \
	VBROADCASTSS consts<>+0x08(SB), Y15 \
	VBROADCASTSS consts<>+0x0c(SB), Y14 \
	VBROADCASTSS consts<>+0x10(SB), Y13 \
	VBROADCASTSS consts<>+0x18(SB), Y12 \
	VBROADCASTSS consts<>+0x1c(SB), Y11 \
	VBROADCASTSS consts<>+0x20(SB), Y10 \
	VBROADCASTSS consts<>+0x24(SB), Y9  \
	VBROADCASTSS consts<>+0x28(SB), Y8  \
	VBROADCASTSS consts<>+0x2c(SB), Y7

// EXP sets Y0 to its exponential: 2^n exp(r) with n = round(x / ln 2) and |r| at most ln(2)/2, for which six
// terms of the series are exact to a bit or two. It uses Y1 and Y2.
#define EXP \
	VMAXPS       Y7, Y0, Y0      \
	VMULPS       Y15, Y0, Y1     \
	VROUNDPS     $0, Y1, Y1      \
	VFMADD231PS  Y14, Y1, Y0     \
	VFMADD231PS  Y13, Y1, Y0     \
	VCVTPS2DQ    Y1, Y1          \
	VPSLLD       $23, Y1, Y1     \
	VBROADCASTSS consts<>+0x14(SB), Y2 \
	VFMADD213PS  Y12, Y0, Y2     \
	VFMADD213PS  Y11, Y0, Y2     \
	VFMADD213PS  Y10, Y0, Y2     \
	VFMADD213PS  Y9, Y0, Y2      \
	VFMADD213PS  Y8, Y0, Y2      \
	VFMADD213PS  Y8, Y0, Y2      \
	VPADDD       Y1, Y2, Y0

// func expRow(x *float32, n int, scale, largest float32)
// x = exp(scale × (x - largest))
TEXT ·expRow(SB), NOSPLIT, $0-24
	MOVQ         x+0(FP), DI
	MOVQ         n+8(FP), CX
	VBROADCASTSS scale+16(FP), Y5
	VBROADCASTSS largest+20(FP), Y6
	EXPCONSTS

exp:
	VMOVUPS (DI), Y0
	VSUBPS  Y6, Y0, Y0
	VMULPS  Y5, Y0, Y0
	EXP
	VMOVUPS Y0, (DI)
	ADDQ    $32, DI
	SUBQ    $8, CX
	JG      exp
	VZEROUPPER
	RET

// func geluRow(x *float32, n int)
// x Φ(x) with erf as in Abramowitz and Stegun 1964, 7.1.26, whose error is below 2e-7. With z = |x|/√2 and
// t = 1/(1 + p z), half of the complement c = t(a1 + t(a2 + …)) exp(-z²) / 2 is Φ(-|x|).
TEXT ·geluRow(SB), NOSPLIT, $0-16
	MOVQ x+0(FP), DI
	MOVQ n+8(FP), CX
	EXPCONSTS

gelu:
	VMOVUPS      (DI), Y6
	VBROADCASTSS consts<>+0x00(SB), Y1
	VANDPS       Y1, Y6, Y3
	VBROADCASTSS consts<>+0x30(SB), Y1
	VMULPS       Y1, Y3, Y3          // z
	VBROADCASTSS consts<>+0x34(SB), Y4
	VFMADD213PS  Y8, Y3, Y4
	VDIVPS       Y4, Y8, Y4          // t
	VXORPS       Y0, Y0, Y0
	VFNMADD231PS Y3, Y3, Y0          // -z²
	EXP
	VBROADCASTSS consts<>+0x38(SB), Y5
	VBROADCASTSS consts<>+0x3c(SB), Y1
	VFMADD213PS  Y1, Y4, Y5
	VBROADCASTSS consts<>+0x40(SB), Y1
	VFMADD213PS  Y1, Y4, Y5
	VBROADCASTSS consts<>+0x44(SB), Y1
	VFMADD213PS  Y1, Y4, Y5
	VBROADCASTSS consts<>+0x48(SB), Y1
	VFMADD213PS  Y1, Y4, Y5
	VMULPS       Y4, Y5, Y5
	VMULPS       Y9, Y0, Y0
	VMULPS       Y5, Y0, Y0          // Φ(-|x|)
	VSUBPS       Y0, Y8, Y1          // Φ(|x|)
	VBLENDVPS    Y6, Y0, Y1, Y1      // by the sign of x
	VMULPS       Y6, Y1, Y1
	VMOVUPS      Y1, (DI)
	ADDQ         $32, DI
	SUBQ         $8, CX
	JG           gelu
	VZEROUPPER
	RET

// func scoreRow(out, query, keys *float32, n int)
// Eight columns of the 32 rows of keys at a time.
TEXT ·scoreRow(SB), NOSPLIT, $0-32
	MOVQ out+0(FP), DI
	MOVQ query+8(FP), SI
	MOVQ keys+16(FP), BX
	MOVQ n+24(FP), CX
	MOVQ CX, DX
	SHLQ $2, DX                     // bytes of a row

columns:
	VXORPS Y0, Y0, Y0
	VXORPS Y1, Y1, Y1
	MOVQ   BX, R8
	MOVQ   SI, R9
	MOVQ   $16, R10

pairs:
	VBROADCASTSS (R9), Y2
	VFMADD231PS  (R8), Y2, Y0
	ADDQ         DX, R8
	VBROADCASTSS 4(R9), Y3
	VFMADD231PS  (R8), Y3, Y1
	ADDQ         DX, R8
	ADDQ         $8, R9
	DECQ         R10
	JNZ          pairs
	VADDPS       Y1, Y0, Y0
	VMOVUPS      Y0, (DI)
	ADDQ         $32, DI
	ADDQ         $32, BX
	SUBQ         $8, CX
	JG           columns
	VZEROUPPER
	RET

// func mixRows(out, weights, values *float32, strideBytes, n int)
TEXT ·mixRows(SB), NOSPLIT, $0-40
	MOVQ   out+0(FP), DI
	MOVQ   weights+8(FP), SI
	MOVQ   values+16(FP), BX
	MOVQ   strideBytes+24(FP), DX
	MOVQ   n+32(FP), CX
	VXORPS Y0, Y0, Y0
	VXORPS Y1, Y1, Y1
	VXORPS Y2, Y2, Y2
	VXORPS Y3, Y3, Y3

rows:
	VBROADCASTSS (SI), Y4
	VFMADD231PS  (BX), Y4, Y0
	VFMADD231PS  32(BX), Y4, Y1
	VFMADD231PS  64(BX), Y4, Y2
	VFMADD231PS  96(BX), Y4, Y3
	ADDQ         $4, SI
	ADDQ         DX, BX
	DECQ         CX
	JNZ          rows
	VMOVUPS      Y0, (DI)
	VMOVUPS      Y1, 32(DI)
	VMOVUPS      Y2, 64(DI)
	VMOVUPS      Y3, 96(DI)
	VZEROUPPER
	RET
