package mesh

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// halvesPage is what BenchmarkHalves and its child share.
type halvesPage struct {
	turn   atomic.Uint64 // 1, 2, 3…: the child is to write its part
	_      [120]byte
	done   atomic.Uint64 // the last turn that the child has done
	_      [120]byte
	data   atomic.Uint64 // where the child's data is
	dst    uint64        // where the child writes to, and what
	from   uint64
	length uint64
}

// halvesMost is the most data that BenchmarkHalves moves.
const halvesMost = 4 << 20

func mapHalves(fd int) *halvesPage {
	b, err := unix.Mmap(fd, 0, 4096, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		panic(err)
	}
	return (*halvesPage)(unsafe.Pointer(&b[0]))
}

// writeHalves is the child: a sender that writes a part of its data into its parent's memory.
func writeHalves() {
	page := mapHalves(3)
	data := make([]byte, halvesMost)
	for i := range data {
		data[i] = byte(i >> 8)
	}
	page.data.Store(uint64(uintptr(unsafe.Pointer(&data[0]))))
	for seen := uint64(0); ; {
		for page.turn.Load() == seen {
		}
		seen = page.turn.Load()
		local := []unix.Iovec{{Base: &data[page.from], Len: page.length}}
		remote := []unix.RemoteIovec{{Base: uintptr(page.dst + page.from), Len: int(page.length)}}
		if n, err := unix.ProcessVMWritev(os.Getppid(), local, remote, 0); err != nil || n != int(page.length) {
			os.Exit(1)
		}
		page.done.Store(seen)
	}
}

// BenchmarkHalves times how long it takes to get data that another process has, in µs: as the
// receiver does it, which reads all, and as it isn't done (decision 55): the receiver reads one
// half while the sender writes the other. Both in turn, quartiles:
//
//	go test -run '^$' -bench Halves -benchtime 2000x ./internal/runtime/transport/mesh
func BenchmarkHalves(b *testing.B) {
	fd, err := unix.MemfdCreate("banyan-halves", unix.MFD_CLOEXEC)
	if err != nil {
		b.Fatal(err)
	}
	shared := os.NewFile(uintptr(fd), "halves")
	defer shared.Close()
	if err := shared.Truncate(4096); err != nil {
		b.Fatal(err)
	}
	page := mapHalves(fd)
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childRole+"="+roleHalves)
	cmd.ExtraFiles = []*os.File{shared}
	unix.Prctl(unix.PR_SET_PTRACER, ^uintptr(0), 0, 0, 0)
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	defer func() { cmd.Process.Kill(); cmd.Wait() }()
	for page.data.Load() == 0 {
		time.Sleep(time.Millisecond)
	}
	dst := make([]byte, halvesMost)
	page.dst = uint64(uintptr(unsafe.Pointer(&dst[0])))
	var v processRead
	for _, size := range []int{64 << 10, 128 << 10, 256 << 10, 512 << 10, 1 << 20, halvesMost} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			took := [2][]float64{}
			for i := range 2 * b.N {
				clear(dst[size-1 : size])
				halves := i / 20 % 2 // some of one kind, then some of the other: each finds its own caches
				own := size >> halves
				page.from, page.length = uint64(own), uint64(size-own)
				start := time.Now()
				turn := page.turn.Load()
				if halves == 1 {
					turn = page.turn.Add(1)
				}
				if n, errno := v.read(cmd.Process.Pid, dst[:own], page.data.Load()); n != own {
					b.Fatal(errno)
				}
				for page.done.Load() != turn {
				}
				if i%20 >= 4 {
					took[halves] = append(took[halves], float64(time.Since(start).Nanoseconds())/1000)
				}
				if dst[size-1] != byte((size-1)>>8) {
					b.Fatal("the end hasn't come")
				}
			}
			for kind, name := range []string{"read", "halves"} {
				if x := took[kind]; len(x) > 0 {
					slices.Sort(x)
					b.ReportMetric(x[len(x)/4], "µs-"+name+"-q1")
					b.ReportMetric(x[len(x)/2], "µs-"+name+"-q2")
				}
			}
			b.ReportMetric(0, "ns/op")
		})
	}
}
