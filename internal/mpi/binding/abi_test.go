package binding

import (
	"testing"
	"unsafe"
)

// The values of LOGICAL are gfortran's until they are set, once.
func TestFortranBooleans(t *testing.T) {
	ranks(t, 1, func(t *testing.T, p *Process) {
		ok(t, "set", p.CommSetErrhandler(CommWorld, ErrorsReturn))
		var yes, no, set int32
		address := func(x *int32) unsafe.Pointer { return unsafe.Pointer(x) }
		ok(t, "get", p.AbiGetFortranBooleans(4, address(&yes), address(&no), &set))
		if yes != 1 || no != 0 || set != 1 {
			t.Errorf("%d %d %d", yes, no, set)
		}
		all := int32(-1)
		ok(t, "set", p.AbiSetFortranBooleans(4, address(&all), address(&no)))
		ok(t, "set", p.AbiSetFortranBooleans(4, address(&all), address(&no))) // the same again
		ok(t, "get", p.AbiGetFortranBooleans(4, address(&yes), address(&no), &set))
		if yes != -1 || no != 0 || set != 1 {
			t.Errorf("%d %d %d", yes, no, set)
		}
		if code := p.AbiSetFortranBooleans(4, address(&set), address(&no)); code != ErrAbi {
			t.Errorf("the values change: %d", code)
		}
		if code := p.AbiSetFortranBooleans(3, address(&set), address(&no)); code != ErrArg {
			t.Errorf("LOGICAL*3: %d", code)
		}
		var i Info
		ok(t, "info", p.AbiGetFortranInfo(&i))
		if v, _ := p.info(i).get("mpi_double_precision_size"); v != "8" {
			t.Errorf("DOUBLE PRECISION has %s bytes", v)
		}
		if v, _ := p.info(i).get("mpi_real16_supported"); v != "true" {
			t.Errorf("REAL*16 is supported: %q", v)
		}
		ok(t, "set", p.InfoSet(i, cString("mpi_integer_size"), cString("8")))
		if code := p.AbiSetFortranInfo(i); code != ErrAbi {
			t.Errorf("INTEGER of 8 bytes: %d", code)
		}
		ok(t, "info", p.AbiGetInfo(&i))
		if v, _ := p.info(i).get("mpi_aint_size"); v != "8" {
			t.Errorf("MPI_Aint has %s bytes", v)
		}
	})
}

// Allocated memory can be used and freed, and a lack of memory is an error.
func TestMemory(t *testing.T) {
	ranks(t, 1, func(t *testing.T, p *Process) {
		ok(t, "set", p.CommSetErrhandler(CommWorld, ErrorsReturn))
		var base, empty unsafe.Pointer
		ok(t, "alloc", p.AllocMem(100_000, InfoNull, unsafe.Pointer(&base)))
		b := unsafe.Slice((*byte)(base), 100_000)
		for i := range b {
			b[i] = byte(i)
		}
		ok(t, "alloc", p.AllocMem(0, InfoNull, unsafe.Pointer(&empty)))
		ok(t, "free", p.FreeMem(empty))
		ok(t, "free", p.FreeMem(base))
		if code := p.FreeMem(base); code != ErrBase {
			t.Errorf("freed twice: %d", code)
		}
		if code := p.AllocMem(1<<60, InfoNull, unsafe.Pointer(&base)); code != ErrNoMem {
			t.Errorf("an exbibyte: %d", code)
		}
		if code := p.AllocMem(-1, InfoNull, unsafe.Pointer(&base)); code != ErrArg {
			t.Errorf("less than nothing: %d", code)
		}
	})
}
