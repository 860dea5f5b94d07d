#include "textflag.h"

// func below6(codes *uint64, q *[6]uint64, bound int64) (mask uint64)
// 64 codes of six words follow each other. Bit i of mask is set if code i differs from q
// in fewer bits than bound.
TEXT ·below6(SB), NOSPLIT, $0-32
	MOVQ codes+0(FP), SI
	MOVQ q+8(FP), DI
	MOVQ bound+16(FP), BX
	MOVQ 0(DI), R8
	MOVQ 8(DI), R9
	MOVQ 16(DI), R10
	MOVQ 24(DI), R11
	MOVQ 32(DI), R12
	MOVQ 40(DI), R13
	XORQ AX, AX
	MOVQ $64, CX

code:
	MOVQ    0(SI), DX
	XORQ    R8, DX
	POPCNTQ DX, DX
	MOVQ    8(SI), DI
	XORQ    R9, DI
	POPCNTQ DI, DI
	ADDQ    DI, DX
	MOVQ    16(SI), DI
	XORQ    R10, DI
	POPCNTQ DI, DI
	ADDQ    DI, DX
	MOVQ    24(SI), DI
	XORQ    R11, DI
	POPCNTQ DI, DI
	ADDQ    DI, DX
	MOVQ    32(SI), DI
	XORQ    R12, DI
	POPCNTQ DI, DI
	ADDQ    DI, DX
	MOVQ    40(SI), DI
	XORQ    R13, DI
	POPCNTQ DI, DI
	ADDQ    DI, DX
	CMPQ    DX, BX       // the carry says below
	RCRQ    $1, AX
	PREFETCHT0 4096(SI)  // the hardware stops at the end of a page
	ADDQ    $48, SI
	DECQ    CX
	JNZ     code
	MOVQ    AX, mask+24(FP)
	RET
