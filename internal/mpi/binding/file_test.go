package binding

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"unsafe"
)

// Requests of many accesses, alone and together, are under way at the same time beside messages.
func TestFileRequests(t *testing.T) {
	name := filepath.Join(t.TempDir(), "f")
	const n, each, length = 3, 12, 5000
	ranks(t, n, func(t *testing.T, p *Process) {
		var f File
		ok(t, "FileOpen", p.FileOpen(CommWorld, cString(name), ModeCreate|ModeRdwr, InfoNull, &f))
		me := rankOf(p)
		requests := make([]Request, each)
		blocks := make([][]byte, each)
		for i := range blocks {
			blocks[i] = bytes.Repeat([]byte{byte(1 + me*each + i)}, length)
			at := int64(length * (i*n + me))
			if i%3 == 0 {
				at -= int64(me) // together, and the runs of all overlap in part
				ok(t, "FileIwriteAtAll", p.FileIwriteAtAll(f, at, unsafe.Pointer(&blocks[i][0]), length, TypeByte, &requests[i]))
			} else {
				ok(t, "FileIwriteAt", p.FileIwriteAt(f, at, unsafe.Pointer(&blocks[i][0]), length, TypeByte, &requests[i]))
			}
			var b [8]byte
			ok(t, "Allreduce", p.Allreduce(Blocking("MPI_Allreduce"), unsafe.Pointer(&[8]byte{1}), unsafe.Pointer(&b), 1, TypeInt64T, OpSum, CommWorld))
		}
		statuses := make([]Status, each)
		ok(t, "Waitall", p.Waitall(each, &requests[0], &statuses[0]))
		for i := range statuses {
			if statuses[i].Bytes() != length {
				t.Errorf("access %d: %d bytes", i, statuses[i].Bytes())
			}
		}
		ok(t, "FileClose", p.FileClose(&f))
	})
	got, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	for i := range each {
		for r := range n {
			at := length * (i*n + r)
			if i%3 == 0 {
				continue
			}
			if want := byte(1 + r*each + i); got[at+length/2] != want {
				t.Errorf("block %d of rank %d has %d, want %d", i, r, got[at+length/2], want)
			}
		}
	}
}

// Safe points are for programs without open files: a replacement couldn't have their pointers.
func TestFileSafepoint(t *testing.T) {
	name := filepath.Join(t.TempDir(), "f")
	ranks(t, 1, func(t *testing.T, p *Process) {
		var f File
		ok(t, "FileOpen", p.FileOpen(CommWorld, cString(name), ModeCreate|ModeRdwr, InfoNull, &f))
		if err := (site{p}).Handles(true); fmt.Sprint(err) != "files that are open: 1" {
			t.Errorf("%v", err)
		}
		ok(t, "FileClose", p.FileClose(&f))
		if err := (site{p}).Handles(true); err != nil {
			t.Error(err)
		}
	})
}
