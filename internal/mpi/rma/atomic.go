package rma

import (
	"encoding/binary"
	"sync/atomic"
	"unsafe"

	"banyan/internal/mpi/datatype"
	"banyan/internal/mpi/reduce"
)

// hardware tells whether elements of a kind are accumulated by atomic instructions. For others the
// engine's lock of the target is what keeps operations apart.
func hardware(k datatype.Kind) bool {
	if _, _, pair := k.Pair(); pair {
		return false
	}
	switch k {
	case datatype.Complex32, datatype.Complex64, datatype.Mixed:
		return false // their alignment is less than their size
	}
	switch k.Size() {
	case 1, 2, 4, 8:
		return true
	}
	return false
}

// aligned tells whether all elements of a place lie at multiples of their size, which atomic
// instructions need.
func (p *place) aligned(base unsafe.Pointer, size int64) bool {
	if size == 1 {
		return true
	}
	at := int64(uintptr(base)) + p.disp
	if p.typ == nil {
		return at%size == 0
	}
	if _, extent := p.typ.Extent(); p.count > 1 && extent%size != 0 {
		return false
	}
	return p.typ.Runs(func(disp, n int64) bool { return (at+disp)%size == 0 && n%size == 0 })
}

// words accumulates on words of eight bytes, each by one compare-and-swap. What lies beside the
// elements in a word stays as it is, also if others change it at the same time.
type words struct {
	was, is [8]byte
}

// accumulate combines elements in a row with data, and copies what they were to old, unless that
// is nil.
func (w *words) accumulate(at unsafe.Pointer, data, old []byte, f reduce.Func) {
	for len(data) > 0 {
		low := int(uintptr(at) & 7)
		n := min(8-low, len(data))
		word := (*atomic.Uint64)(unsafe.Pointer(uintptr(at) &^ 7))
		for {
			was := word.Load()
			binary.NativeEndian.PutUint64(w.was[:], was)
			w.is = w.was
			f(w.is[low:low+n], data[:n])
			if is := binary.NativeEndian.Uint64(w.is[:]); is == was || word.CompareAndSwap(was, is) {
				break
			}
		}
		if old != nil {
			copy(old, w.was[low:low+n])
			old = old[n:]
		}
		if data = data[n:]; len(data) > 0 {
			at = unsafe.Add(at, n)
		}
	}
}

// load copies elements in a row, each as a whole.
func (w *words) load(at unsafe.Pointer, old []byte) {
	for len(old) > 0 {
		low := int(uintptr(at) & 7)
		binary.NativeEndian.PutUint64(w.was[:], (*atomic.Uint64)(unsafe.Pointer(uintptr(at)&^7)).Load())
		n := copy(old, w.was[low:])
		if old = old[n:]; len(old) > 0 {
			at = unsafe.Add(at, n)
		}
	}
}

// swap stores value at an element if it is as compare says, and copies what it was to old.
func (w *words) swap(at unsafe.Pointer, value, compare, old []byte) {
	low, n := int(uintptr(at)&7), len(value)
	word := (*atomic.Uint64)(unsafe.Pointer(uintptr(at) &^ 7))
	for {
		was := word.Load()
		binary.NativeEndian.PutUint64(w.was[:], was)
		if string(w.was[low:low+n]) != string(compare) {
			break
		}
		w.is = w.was
		copy(w.is[low:], value)
		if word.CompareAndSwap(was, binary.NativeEndian.Uint64(w.is[:])) {
			break
		}
	}
	copy(old, w.was[low:low+n])
}
