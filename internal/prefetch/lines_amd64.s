#include "textflag.h"

// func lines(p unsafe.Pointer, n uintptr)
TEXT ·lines(SB), NOSPLIT, $0-16
	MOVQ p+0(FP), AX
	MOVQ n+8(FP), CX
	TESTQ CX, CX
	JZ done
next:
	PREFETCHT0 (AX)
	ADDQ $64, AX
	DECQ CX
	JNZ next
done:
	RET
