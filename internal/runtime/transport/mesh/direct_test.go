package mesh

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"banyan/internal/runtime/wire"
)

// readers are two Procs that can read each other's memory.
func readers(t *testing.T) (from, to *Transport) {
	c := newLocalJob(t, 2, func(cfg *Config) { cfg.Media = SharedMemory })
	c.talk()
	return c.transports[0], c.transports[1]
}

func TestDirectRead(t *testing.T) {
	from, to := readers(t)
	data := make([]byte, 3<<20)
	rand.NewChaCha8([32]byte{2}).Read(data)
	exposed := from.Expose(data)
	got := make([]byte, 1<<20)
	for _, offset := range []int{0, 1, 4097, 2 << 20} {
		clear(got)
		if !to.Read(0, got, exposed, uint64(offset)) || !bytes.Equal(got, data[offset:offset+len(got)]) {
			t.Fatalf("at %d: not read, or other bytes", offset)
		}
	}
	from.Revoke()
	if to.Read(0, got, exposed, 0) {
		t.Error("what was revoked can be read")
	}
	if !to.Read(0, got, from.Expose(data), 0) {
		t.Error("what is exposed anew can't be read")
	}
	if from.Expose(nil) != 0 || to.Read(0, got, 0, 0) {
		t.Error("nothing is exposed")
	}
}

// Data that is revoked while it is being read doesn't count as read.
func TestRevokedWhileRead(t *testing.T) {
	from, to := readers(t)
	data := make([]byte, 1<<20)
	exposed := from.Expose(data)
	read := to.readMemory
	to.readMemory = func(pid int, dst []byte, address uint64) (int, unix.Errno) {
		n, errno := read(pid, dst, address)
		from.Revoke()
		return n, errno
	}
	if to.Read(0, make([]byte, len(data)), exposed, 0) {
		t.Error("it counts")
	}
}

// If the system refuses reads for good, each peer's memory is tried once; other errors don't stop
// later tries.
func TestReadRefused(t *testing.T) {
	for name, c := range map[string]struct {
		n     int
		errno unix.Errno
		calls int // of two Reads
	}{
		"not permitted":      {0, unix.EPERM, 1},
		"unknown to Linux":   {0, unix.ENOSYS, 1},
		"filtered":           {0, unix.EACCES, 1},
		"dead":               {0, unix.ESRCH, 2},
		"not mapped":         {0, unix.EFAULT, 2},
		"out of memory":      {0, unix.ENOMEM, 2},
		"not all of it read": {4096, 0, 2},
	} {
		from, to := readers(t)
		data := make([]byte, 8192)
		calls := 0
		to.readMemory = func(int, []byte, uint64) (int, unix.Errno) {
			calls++
			return c.n, c.errno
		}
		for range 2 {
			if to.Read(0, make([]byte, len(data)), from.Expose(data), 0) {
				t.Errorf("%s: read", name)
			}
		}
		if calls != c.calls {
			t.Errorf("%s: asked %d times, want %d", name, calls, c.calls)
		}
	}
}

// A dead process can't be read, nor can another process that has its pid now.
func TestReadOfTheDead(t *testing.T) {
	tr, cmd, lines := startChild(t, roleExpose, SharedMemory)
	if !lines.Scan() {
		t.Fatal("the child exposes nothing")
	}
	var exposed uint64
	fmt.Sscan(strings.TrimSpace(lines.Text()), &exposed)
	w := &witness{t: t}
	watch(t, tr, w, "they are connected", func() bool { return w.frames == 1 })
	got := make([]byte, 1<<16)
	if !tr.Read(1, got, exposed, 0) || bytes.Count(got, []byte("x")) != len(got) {
		t.Fatal("the child can't be read")
	}
	read := tr.readMemory
	tr.readMemory = func(pid int, dst []byte, address uint64) (int, unix.Errno) {
		cmd.Process.Kill()
		if !exits(tr.peer(1).pidfd, 10e9) {
			t.Error("the child lives")
		}
		return len(dst), 0 // as if another process had the pid
	}
	if tr.Read(1, got, exposed, 0) {
		t.Error("a dead process is read")
	}
	tr.readMemory = read
	if tr.Read(1, got, exposed, 0) {
		t.Error("a dead process is read")
	}
	watch(t, tr, w, "the end is told", func() bool { return w.closed > 0 })
}

// exposeAndWait is the child's part.
func exposeAndWait(tr *Transport, s *childSink) {
	data := bytes.Repeat([]byte("x"), 1<<16)
	fmt.Println(tr.Expose(data))
	tr.Send(0, &wire.Header{Kind: wire.KindEager, Seq: 1}, nil, 0)
	for !s.closed {
		tr.Poll(s)
		tr.Wait(-1)
	}
	clear(data)
}
