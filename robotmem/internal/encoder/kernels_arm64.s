#include "textflag.h"

// Instructions that the assembler does not know. The arguments are numbers of registers in the order of the
// ARM manual: the result first.

// FABS Vd.4S, Vn.4S
#define FABS(d, n) WORD $(0x4ea0f800 | n<<5 | d)

// FADD Vd.4S, Vn.4S, Vm.4S
#define FADD(d, n, m) WORD $(0x4e20d400 | m<<16 | n<<5 | d)

// FADDP Vd.4S, Vn.4S, Vm.4S
#define FADDP(d, n, m) WORD $(0x6e20d400 | m<<16 | n<<5 | d)

// FSUB Vd.4S, Vn.4S, Vm.4S
#define FSUB(d, n, m) WORD $(0x4ea0d400 | m<<16 | n<<5 | d)

// FMUL Vd.4S, Vn.4S, Vm.4S
#define FMUL(d, n, m) WORD $(0x6e20dc00 | m<<16 | n<<5 | d)

// FMUL Vd.4S, Vn.4S, Vm.S[i]
#define FMULBY(d, n, m, i) WORD $(0x4f809000 | (i&1)<<21 | (i>>1)<<11 | m<<16 | n<<5 | d)

// FMLA Vd.4S, Vn.4S, Vm.S[i]
#define FMLABY(d, n, m, i) WORD $(0x4f801000 | (i&1)<<21 | (i>>1)<<11 | m<<16 | n<<5 | d)

// FDIV Vd.4S, Vn.4S, Vm.4S
#define FDIV(d, n, m) WORD $(0x6e20fc00 | m<<16 | n<<5 | d)

// FMAX Vd.4S, Vn.4S, Vm.4S
#define FMAX(d, n, m) WORD $(0x4e20f400 | m<<16 | n<<5 | d)

// FMAXV Sd, Vn.4S
#define FMAXV(d, n) WORD $(0x6e30f800 | n<<5 | d)

// FCVTNS Vd.4S, Vn.4S
#define FCVTNS(d, n) WORD $(0x4e21a800 | n<<5 | d)

// SCVTF Vd.4S, Vn.4S
#define SCVTF(d, n) WORD $(0x4e21d800 | n<<5 | d)

// FCVTL Vd.4S, Vn.4H
#define FCVTL(d, n) WORD $(0x0e217800 | n<<5 | d)

// FCVTL2 Vd.4S, Vn.8H
#define FCVTL2(d, n) WORD $(0x4e217800 | n<<5 | d)

// NEG Vd.4S, Vn.4S
#define NEG(d, n) WORD $(0x6ea0b800 | n<<5 | d)

// SADDLP Vd.8H, Vn.16B
#define SADDLPB(d, n) WORD $(0x4e202800 | n<<5 | d)

// SADALP Vd.8H, Vn.16B
#define SADALPB(d, n) WORD $(0x4e206800 | n<<5 | d)

// SADDLP Vd.4S, Vn.8H
#define SADDLPH(d, n) WORD $(0x4e602800 | n<<5 | d)

// SADDLV Sd, Vn.8H
#define SADDLVH(d, n) WORD $(0x4e703800 | n<<5 | d)

// SMULL Vd.8H, Vn.8B, Vm.8B
#define SMULL(d, n, m) WORD $(0x0e20c000 | m<<16 | n<<5 | d)

// SMULL2 Vd.8H, Vn.16B, Vm.16B
#define SMULL2(d, n, m) WORD $(0x4e20c000 | m<<16 | n<<5 | d)

// SMLAL Vd.8H, Vn.8B, Vm.8B
#define SMLAL(d, n, m) WORD $(0x0e208000 | m<<16 | n<<5 | d)

// SMLAL2 Vd.8H, Vn.16B, Vm.16B
#define SMLAL2(d, n, m) WORD $(0x4e208000 | m<<16 | n<<5 | d)

// SDOT Vd.4S, Vn.16B, Vm.4B[i]
#define SDOT(d, n, m, i) WORD $(0x4f80e000 | (i&1)<<21 | (i>>1)<<11 | m<<16 | n<<5 | d)

// Constants that CONSTS loads.
DATA consts<>+0x00(SB)/4, $0x3fb8aa3b  // log2(e)
DATA consts<>+0x04(SB)/4, $0xbf317200  // -ln(2), the high part
DATA consts<>+0x08(SB)/4, $0xb5bfbe8e  // -ln(2), the rest
DATA consts<>+0x0c(SB)/4, $0x3ab60b61  // 1/720: the series of exp, from the highest
DATA consts<>+0x10(SB)/4, $0x3c088889  // 1/120
DATA consts<>+0x14(SB)/4, $0x3d2aaaab  // 1/24
DATA consts<>+0x18(SB)/4, $0x3e2aaaab  // 1/6
DATA consts<>+0x1c(SB)/4, $0x3f000000  // 1/2
DATA consts<>+0x20(SB)/4, $0x3f800000  // 1
DATA consts<>+0x24(SB)/4, $0xc2ae0000  // -87: exp of less is nearly 0
DATA consts<>+0x28(SB)/4, $0xbf000000  // -1/2
DATA consts<>+0x2c(SB)/4, $0x3e6d3389  // p of Φ
DATA consts<>+0x30(SB)/4, $0x3f07dc22  // b5
DATA consts<>+0x34(SB)/4, $0xbf3a00e3  // b4
DATA consts<>+0x38(SB)/4, $0x3f35f0e3  // b3
DATA consts<>+0x3c(SB)/4, $0xbe11a98e  // b2
DATA consts<>+0x40(SB)/4, $0x3e027906  // b1
GLOBL consts<>(SB), RODATA|NOPTR, $68

// func quantizeBlocks(bytes, scales *byte, row *float32, blocks int)
// Each 32 numbers become bytes: x × 127 / max|x|, rounded. The scale max|x| / 127 goes to scales, and eight
// times the sum of the bytes 16 bytes behind it.
TEXT ·quantizeBlocks(SB), NOSPLIT, $0-32
	MOVD  bytes+0(FP), R0
	MOVD  scales+8(FP), R1
	MOVD  row+16(FP), R2
	MOVD  blocks+24(FP), R3
	FMOVS $(127.0), F16

block:
	VLD1.P 64(R2), [V0.S4, V1.S4, V2.S4, V3.S4]
	VLD1.P 64(R2), [V4.S4, V5.S4, V6.S4, V7.S4]
	FABS(8, 0)
	FABS(9, 1)
	FABS(10, 2)
	FABS(11, 3)
	FABS(12, 4)
	FABS(13, 5)
	FABS(14, 6)
	FABS(15, 7)
	FMAX(8, 8, 9)
	FMAX(10, 10, 11)
	FMAX(12, 12, 13)
	FMAX(14, 14, 15)
	FMAX(8, 8, 10)
	FMAX(12, 12, 14)
	FMAX(8, 8, 12)
	FMAXV(8, 8)
	FDIVS  F16, F8, F9
	FMOVS  F9, (R1)
	FDIVS  F8, F16, F9              // ∞ if all are 0, which become NaN and then 0
	FMULBY(0, 0, 9, 0)
	FMULBY(1, 1, 9, 0)
	FMULBY(2, 2, 9, 0)
	FMULBY(3, 3, 9, 0)
	FMULBY(4, 4, 9, 0)
	FMULBY(5, 5, 9, 0)
	FMULBY(6, 6, 9, 0)
	FMULBY(7, 7, 9, 0)
	FCVTNS(0, 0)
	FCVTNS(1, 1)
	FCVTNS(2, 2)
	FCVTNS(3, 3)
	FCVTNS(4, 4)
	FCVTNS(5, 5)
	FCVTNS(6, 6)
	FCVTNS(7, 7)
	VUZP1  V1.H8, V0.H8, V0.H8
	VUZP1  V3.H8, V2.H8, V2.H8
	VUZP1  V5.H8, V4.H8, V4.H8
	VUZP1  V7.H8, V6.H8, V6.H8
	VUZP1  V2.B16, V0.B16, V0.B16
	VUZP1  V6.B16, V4.B16, V1.B16
	VST1   [V0.B16, V1.B16], (R0)
	SADDLPB(2, 0)
	SADALPB(2, 1)
	SADDLVH(2, 2)
	VSHL   $3, V2.S4, V2.S4
	FMOVS  F2, 16(R1)
	ADD    $160, R0
	ADD    $160, R1
	SUBS   $1, R3
	BNE    block
	RET

// BIAS sets the sums of the four tokens, V16 to V23, to the bias.
#define BIAS \
	VLD1 (R5), [V16.S4, V17.S4] \
	VMOV V16.B16, V18.B16       \
	VMOV V17.B16, V19.B16       \
	VMOV V16.B16, V20.B16       \
	VMOV V17.B16, V21.B16       \
	VMOV V16.B16, V22.B16       \
	VMOV V17.B16, V23.B16

// ADDBLOCK adds the products of a block, integers in V8 to V15, times their scales to the sums.
#define ADDBLOCK \
	FMOVQ (R1), F4               \
	FMOVQ 128(R2), F6            \
	FCVTL2(5, 4)                 \
	FCVTL(4, 4)                  \
	SCVTF(8, 8)                  \
	SCVTF(9, 9)                  \
	SCVTF(10, 10)                \
	SCVTF(11, 11)                \
	SCVTF(12, 12)                \
	SCVTF(13, 13)                \
	SCVTF(14, 14)                \
	SCVTF(15, 15)                \
	FMULBY(0, 4, 6, 0)           \
	FMULBY(1, 5, 6, 0)           \
	FMULBY(2, 4, 6, 1)           \
	FMULBY(3, 5, 6, 1)           \
	FMULBY(24, 4, 6, 2)          \
	FMULBY(25, 5, 6, 2)          \
	FMULBY(26, 4, 6, 3)          \
	FMULBY(27, 5, 6, 3)          \
	VFMLA V0.S4, V8.S4, V16.S4   \
	VFMLA V1.S4, V9.S4, V17.S4   \
	VFMLA V2.S4, V10.S4, V18.S4  \
	VFMLA V3.S4, V11.S4, V19.S4  \
	VFMLA V24.S4, V12.S4, V20.S4 \
	VFMLA V25.S4, V13.S4, V21.S4 \
	VFMLA V26.S4, V14.S4, V22.S4 \
	VFMLA V27.S4, V15.S4, V23.S4

// RESULTS stores the sums.
#define RESULTS \
	VST1.P [V16.S4, V17.S4], (R0)(R3) \
	VST1.P [V18.S4, V19.S4], (R0)(R3) \
	VST1.P [V20.S4, V21.S4], (R0)(R3) \
	VST1   [V22.S4, V23.S4], (R0)

// DOTS adds the products of the m-th 32 bytes of weights, first of their low halves, and the activations in
// V24 to V31 to V8 to V15.
#define DOTS(m) \
	FLDPQ 16 + 32*m(R1), (F0, F1) \
	VUSHR $4, V0.B16, V2.B16      \
	VUSHR $4, V1.B16, V3.B16      \
	VAND  V7.B16, V0.B16, V0.B16  \
	VAND  V7.B16, V1.B16, V1.B16  \
	SDOT(8, 0, 24, m)             \
	SDOT(9, 1, 24, m)             \
	SDOT(10, 0, 26, m)            \
	SDOT(11, 1, 26, m)            \
	SDOT(12, 0, 28, m)            \
	SDOT(13, 1, 28, m)            \
	SDOT(14, 0, 30, m)            \
	SDOT(15, 1, 30, m)            \
	SDOT(8, 2, 25, m)             \
	SDOT(9, 3, 25, m)             \
	SDOT(10, 2, 27, m)            \
	SDOT(11, 3, 27, m)            \
	SDOT(12, 2, 29, m)            \
	SDOT(13, 3, 29, m)            \
	SDOT(14, 2, 31, m)            \
	SDOT(15, 3, 31, m)

// func multiplyBlocksDot(out *float32, strideBytes int, weights, tile *byte, bias *float32, blocks int)
// Weights are 0 to 15 and 8 too large, so that the products of a block are added to minus eight times the
// sum of the activations.
TEXT ·multiplyBlocksDot(SB), NOSPLIT, $0-48
	MOVD  out+0(FP), R0
	MOVD  strideBytes+8(FP), R3
	MOVD  weights+16(FP), R1
	MOVD  tile+24(FP), R2
	MOVD  bias+32(FP), R5
	MOVD  blocks+40(FP), R4
	BIAS
	VMOVI $15, V7.B16

loop:
	FMOVQ 144(R2), F0
	NEG(0, 0)
	VDUP  V0.S[0], V8.S4
	VDUP  V0.S[0], V9.S4
	VDUP  V0.S[1], V10.S4
	VDUP  V0.S[1], V11.S4
	VDUP  V0.S[2], V12.S4
	VDUP  V0.S[2], V13.S4
	VDUP  V0.S[3], V14.S4
	VDUP  V0.S[3], V15.S4
	FLDPQ (R2), (F24, F25)
	FLDPQ 32(R2), (F26, F27)
	FLDPQ 64(R2), (F28, F29)
	FLDPQ 96(R2), (F30, F31)
	DOTS(0)
	DOTS(1)
	DOTS(2)
	DOTS(3)
	ADDBLOCK
	ADD   $144, R1
	ADD   $160, R2
	SUBS  $1, R4
	BNE   loop
	RESULTS
	RET

// TOKENS multiplies weights of eight rows, in w0 and w1, by four bytes of each token. With SMULL the products
// replace V0 to V15, four registers for a token and four numbers of 16 bits for a row; with SMLAL they are
// added.
#define TOKENS(OP, OP2, at, w0, w1) \
	FMOVS at(R2), F28      \
	FMOVS at + 32(R2), F29 \
	FMOVS at + 64(R2), F30 \
	FMOVS at + 96(R2), F31 \
	VDUP  V28.S[0], V28.S4 \
	VDUP  V29.S[0], V29.S4 \
	VDUP  V30.S[0], V30.S4 \
	VDUP  V31.S[0], V31.S4 \
	OP(0, w0, 28)          \
	OP2(1, w0, 28)         \
	OP(2, w1, 28)          \
	OP2(3, w1, 28)         \
	OP(4, w0, 29)          \
	OP2(5, w0, 29)         \
	OP(6, w1, 29)          \
	OP2(7, w1, 29)         \
	OP(8, w0, 30)          \
	OP2(9, w0, 30)         \
	OP(10, w1, 30)         \
	OP2(11, w1, 30)        \
	OP(12, w0, 31)         \
	OP2(13, w0, 31)        \
	OP(14, w1, 31)         \
	OP2(15, w1, 31)

// PRODUCTS multiplies the m-th 32 bytes of weights: first their low halves, then the high ones.
#define PRODUCTS(OP, OP2, m) \
	FLDPQ 16 + 32*m(R1), (F24, F25) \
	VMOVI $15, V28.B16              \
	VUSHR $4, V24.B16, V26.B16      \
	VUSHR $4, V25.B16, V27.B16      \
	VAND  V28.B16, V24.B16, V24.B16 \
	VAND  V28.B16, V25.B16, V25.B16 \
	TOKENS(OP, OP2, 4*m, 24, 25)    \
	TOKENS(SMLAL, SMLAL2, 16 + 4*m, 26, 27)

// func multiplyBlocks(out *float32, strideBytes int, weights, tile *byte, bias *float32, blocks int)
// As multiplyBlocksDot, without SDOT. Each of the four sums for a row of a token is of eight products of
// at most 15 × 127, so that two of them still fit into 16 bits.
TEXT ·multiplyBlocks(SB), NOSPLIT, $0-48
	MOVD  out+0(FP), R0
	MOVD  strideBytes+8(FP), R3
	MOVD  weights+16(FP), R1
	MOVD  tile+24(FP), R2
	MOVD  bias+32(FP), R5
	MOVD  blocks+40(FP), R4
	BIAS

loop:
	PRODUCTS(SMULL, SMULL2, 0)
	PRODUCTS(SMLAL, SMLAL2, 1)
	PRODUCTS(SMLAL, SMLAL2, 2)
	PRODUCTS(SMLAL, SMLAL2, 3)
	VADDP V1.H8, V0.H8, V0.H8
	VADDP V3.H8, V2.H8, V1.H8
	VADDP V5.H8, V4.H8, V2.H8
	VADDP V7.H8, V6.H8, V3.H8
	VADDP V9.H8, V8.H8, V4.H8
	VADDP V11.H8, V10.H8, V5.H8
	VADDP V13.H8, V12.H8, V6.H8
	VADDP V15.H8, V14.H8, V7.H8
	SADDLPH(8, 0)
	SADDLPH(9, 1)
	SADDLPH(10, 2)
	SADDLPH(11, 3)
	SADDLPH(12, 4)
	SADDLPH(13, 5)
	SADDLPH(14, 6)
	SADDLPH(15, 7)
	FMOVQ 144(R2), F0
	VDUP  V0.S[0], V24.S4
	VDUP  V0.S[1], V25.S4
	VDUP  V0.S[2], V26.S4
	VDUP  V0.S[3], V27.S4
	VSUB  V24.S4, V8.S4, V8.S4
	VSUB  V24.S4, V9.S4, V9.S4
	VSUB  V25.S4, V10.S4, V10.S4
	VSUB  V25.S4, V11.S4, V11.S4
	VSUB  V26.S4, V12.S4, V12.S4
	VSUB  V26.S4, V13.S4, V13.S4
	VSUB  V27.S4, V14.S4, V14.S4
	VSUB  V27.S4, V15.S4, V15.S4
	ADDBLOCK
	ADD   $144, R1
	ADD   $160, R2
	SUBS  $1, R4
	BNE   loop
	RESULTS
	RET

// func addRow(x, y *float32, n int)
TEXT ·addRow(SB), NOSPLIT, $0-24
	MOVD x+0(FP), R0
	MOVD y+8(FP), R1
	MOVD n+16(FP), R2

add:
	VLD1   (R0), [V0.S4, V1.S4]
	VLD1.P 32(R1), [V2.S4, V3.S4]
	FADD(0, 0, 2)
	FADD(1, 1, 3)
	VST1.P [V0.S4, V1.S4], 32(R0)
	SUBS   $8, R2
	BGT    add
	RET

// TOTAL sets each lane of register d to the sum of the lanes of d and e.
#define TOTAL(d, e) \
	FADD(d, d, e)  \
	FADDP(d, d, d) \
	FADDP(d, d, d)

// func normRow(x, weight, bias *float32, n int, epsilon, inverse float32)
// x = (x - mean) / sqrt(variance + epsilon) × weight + bias; inverse is 1/n.
TEXT ·normRow(SB), NOSPLIT, $0-40
	MOVD  x+0(FP), R0
	MOVD  weight+8(FP), R1
	MOVD  bias+16(FP), R2
	MOVD  n+24(FP), R3
	FMOVS epsilon+32(FP), F6
	FMOVS inverse+36(FP), F7
	VEOR  V0.B16, V0.B16, V0.B16
	VEOR  V1.B16, V1.B16, V1.B16
	MOVD  R0, R4
	MOVD  R3, R5

sum:
	VLD1.P 32(R4), [V2.S4, V3.S4]
	FADD(0, 0, 2)
	FADD(1, 1, 3)
	SUBS   $8, R5
	BGT    sum
	TOTAL(0, 1)
	FMULBY(0, 0, 7, 0)              // mean
	VEOR   V4.B16, V4.B16, V4.B16
	VEOR   V5.B16, V5.B16, V5.B16
	MOVD   R0, R4
	MOVD   R3, R5

squares:
	VLD1.P 32(R4), [V2.S4, V3.S4]
	FSUB(2, 2, 0)
	FSUB(3, 3, 0)
	VFMLA  V2.S4, V2.S4, V4.S4
	VFMLA  V3.S4, V3.S4, V5.S4
	SUBS   $8, R5
	BGT    squares
	TOTAL(4, 5)
	FMULS  F7, F4, F4
	FADDS  F6, F4, F4
	FSQRTS F4, F4
	FMOVS  $(1.0), F5
	FDIVS  F4, F5, F1

scale:
	VLD1   (R0), [V2.S4, V3.S4]
	FSUB(2, 2, 0)
	FSUB(3, 3, 0)
	FMULBY(2, 2, 1, 0)
	FMULBY(3, 3, 1, 0)
	VLD1.P 32(R1), [V4.S4, V5.S4]
	VLD1.P 32(R2), [V6.S4, V7.S4]
	VFMLA  V4.S4, V2.S4, V6.S4
	VFMLA  V5.S4, V3.S4, V7.S4
	VST1.P [V6.S4, V7.S4], 32(R0)
	SUBS   $8, R3
	BGT    scale
	RET

// EXPCONSTS loads what EXP needs and leaves R3 behind it.
#define EXPCONSTS \
	MOVD    $consts<>(SB), R3 \
	VLD1R.P 4(R3), [V16.S4]   \
	VLD1R.P 4(R3), [V17.S4]   \
	VLD1R.P 4(R3), [V18.S4]   \
	VLD1R.P 4(R3), [V19.S4]   \
	VLD1R.P 4(R3), [V20.S4]   \
	VLD1R.P 4(R3), [V21.S4]   \
	VLD1R.P 4(R3), [V22.S4]   \
	VLD1R.P 4(R3), [V23.S4]   \
	VLD1R.P 4(R3), [V24.S4]   \
	VLD1R.P 4(R3), [V25.S4]

// EXP sets V0 to its exponential: 2^n exp(r) with n = round(x / ln 2) and |r| at most ln(2)/2, for which six
// terms of the series are exact to a bit or two. It uses V1, V2 and V3.
#define EXP \
	FMAX(0, 0, 25)             \
	FMUL(1, 0, 16)             \
	FCVTNS(1, 1)               \
	SCVTF(2, 1)                \
	VFMLA V17.S4, V2.S4, V0.S4 \
	VFMLA V18.S4, V2.S4, V0.S4 \
	VSHL  $23, V1.S4, V1.S4    \
	VMOV  V20.B16, V2.B16      \
	VFMLA V19.S4, V0.S4, V2.S4 \
	VMOV  V21.B16, V3.B16      \
	VFMLA V2.S4, V0.S4, V3.S4  \
	VMOV  V22.B16, V2.B16      \
	VFMLA V3.S4, V0.S4, V2.S4  \
	VMOV  V23.B16, V3.B16      \
	VFMLA V2.S4, V0.S4, V3.S4  \
	VMOV  V24.B16, V2.B16      \
	VFMLA V3.S4, V0.S4, V2.S4  \
	VMOV  V24.B16, V3.B16      \
	VFMLA V2.S4, V0.S4, V3.S4  \
	VADD  V1.S4, V3.S4, V0.S4

// func expRow(x *float32, n int, scale, largest float32)
// x = exp(scale × (x - largest))
TEXT ·expRow(SB), NOSPLIT, $0-24
	MOVD  x+0(FP), R0
	MOVD  n+8(FP), R1
	FMOVS scale+16(FP), F4
	FMOVS largest+20(FP), F5
	VDUP  V5.S[0], V5.S4
	EXPCONSTS

exp:
	VLD1   (R0), [V0.S4]
	FSUB(0, 0, 5)
	FMULBY(0, 0, 4, 0)
	EXP
	VST1.P [V0.S4], 16(R0)
	SUBS   $4, R1
	BGT    exp
	RET

// func geluRow(x *float32, n int)
// x Φ(x) = max(x, 0) - |x| Φ(-|x|), with Φ as in Abramowitz and Stegun 1964, 26.2.17, whose error is below
// 1e-7: with t = 1/(1 + p |x|), Φ(-|x|) = t(b1 + t(b2 + …)) exp(-x²/2), where b has the factor 1/√(2π).
TEXT ·geluRow(SB), NOSPLIT, $0-16
	MOVD    x+0(FP), R0
	MOVD    n+8(FP), R1
	EXPCONSTS
	VLD1R.P 4(R3), [V26.S4]         // -1/2
	VLD1R.P 4(R3), [V27.S4]         // p
	VLD1R.P 4(R3), [V28.S4]         // b5 to b1
	VLD1R.P 4(R3), [V29.S4]
	VLD1R.P 4(R3), [V30.S4]
	VLD1R.P 4(R3), [V31.S4]
	VLD1R   (R3), [V7.S4]
	VEOR    V8.B16, V8.B16, V8.B16

gelu:
	VLD1   (R0), [V4.S4]
	FABS(5, 4)
	VMOV   V24.B16, V6.B16
	VFMLA  V27.S4, V5.S4, V6.S4
	FDIV(6, 24, 6)                  // t
	FMUL(0, 4, 4)
	FMUL(0, 0, 26)                  // -x²/2
	EXP
	VMOV   V29.B16, V1.B16
	VFMLA  V28.S4, V6.S4, V1.S4
	VMOV   V30.B16, V2.B16
	VFMLA  V1.S4, V6.S4, V2.S4
	VMOV   V31.B16, V1.B16
	VFMLA  V2.S4, V6.S4, V1.S4
	VMOV   V7.B16, V2.B16
	VFMLA  V1.S4, V6.S4, V2.S4
	FMUL(2, 2, 6)
	FMUL(0, 0, 2)                   // Φ(-|x|)
	FMAX(4, 4, 8)
	VFMLS  V5.S4, V0.S4, V4.S4
	VST1.P [V4.S4], 16(R0)
	SUBS   $4, R1
	BGT    gelu
	RET

// KEY adds eight numbers of a row of keys, times number i of the query in V4, to two registers.
#define KEY(i, low, high) \
	VLD1.P (R4)(R5), [V5.S4, V6.S4] \
	FMLABY(low, 5, 4, i)            \
	FMLABY(high, 6, 4, i)

// func scoreRow(out, query, keys *float32, n int)
// Eight columns of the 32 rows of keys at a time.
TEXT ·scoreRow(SB), NOSPLIT, $0-32
	MOVD out+0(FP), R0
	MOVD query+8(FP), R1
	MOVD keys+16(FP), R2
	MOVD n+24(FP), R3
	LSL  $2, R3, R5                 // bytes of a row

columns:
	VEOR   V0.B16, V0.B16, V0.B16
	VEOR   V1.B16, V1.B16, V1.B16
	VEOR   V2.B16, V2.B16, V2.B16
	VEOR   V3.B16, V3.B16, V3.B16
	MOVD   R2, R4
	MOVD   R1, R6
	MOVD   $8, R7

rows:
	VLD1.P 16(R6), [V4.S4]
	KEY(0, 0, 1)
	KEY(1, 2, 3)
	KEY(2, 0, 1)
	KEY(3, 2, 3)
	SUBS   $1, R7
	BNE    rows
	FADD(0, 0, 2)
	FADD(1, 1, 3)
	VST1.P [V0.S4, V1.S4], 32(R0)
	ADD    $32, R2
	SUBS   $8, R3
	BGT    columns
	RET

// func mixRows(out, weights, values *float32, strideBytes, n int)
TEXT ·mixRows(SB), NOSPLIT, $0-40
	MOVD out+0(FP), R0
	MOVD weights+8(FP), R1
	MOVD values+16(FP), R2
	MOVD strideBytes+24(FP), R3
	MOVD n+32(FP), R4
	VEOR V0.B16, V0.B16, V0.B16
	VEOR V1.B16, V1.B16, V1.B16
	VEOR V2.B16, V2.B16, V2.B16
	VEOR V3.B16, V3.B16, V3.B16
	VEOR V4.B16, V4.B16, V4.B16
	VEOR V5.B16, V5.B16, V5.B16
	VEOR V6.B16, V6.B16, V6.B16
	VEOR V7.B16, V7.B16, V7.B16

mix:
	VLD1R.P 4(R1), [V8.S4]
	FLDPQ   (R2), (F16, F17)
	FLDPQ   32(R2), (F18, F19)
	FLDPQ   64(R2), (F20, F21)
	FLDPQ   96(R2), (F22, F23)
	VFMLA   V16.S4, V8.S4, V0.S4
	VFMLA   V17.S4, V8.S4, V1.S4
	VFMLA   V18.S4, V8.S4, V2.S4
	VFMLA   V19.S4, V8.S4, V3.S4
	VFMLA   V20.S4, V8.S4, V4.S4
	VFMLA   V21.S4, V8.S4, V5.S4
	VFMLA   V22.S4, V8.S4, V6.S4
	VFMLA   V23.S4, V8.S4, V7.S4
	ADD     R3, R2
	SUBS    $1, R4
	BNE     mix
	VST1.P  [V0.S4, V1.S4, V2.S4, V3.S4], 64(R0)
	VST1    [V4.S4, V5.S4, V6.S4, V7.S4], (R0)
	RET
