package binding

import (
	"fmt"
	"runtime"
	"slices"
	"sync"
	"testing"
	"unsafe"
)

// ints is a program's buffer.
func ints(s []int32) unsafe.Pointer { return unsafe.Pointer(unsafe.SliceData(s)) }

// numbers are n different ints.
func numbers(n, first int) []int32 {
	s := make([]int32, n)
	for i := range s {
		s[i] = int32(first + i)
	}
	return s
}

// returning is ranks with MPI_ERRORS_RETURN.
func returning(t *testing.T, n int, f func(t *testing.T, p *Process)) {
	t.Helper()
	ranks(t, n, func(t *testing.T, p *Process) {
		ok(t, "CommSetErrhandler", p.CommSetErrhandler(CommWorld, ErrorsReturn))
		ok(t, "CommSetErrhandler", p.CommSetErrhandler(CommSelf, ErrorsReturn))
		f(t, p)
	})
}

func wantCode(t *testing.T, what string, got, want Code) {
	t.Helper()
	if got != want {
		t.Errorf("%s: %d (%s), want %d (%s)", what, got, classes[got][0], want, classes[want][0])
	}
}

func wantStatus(t *testing.T, what string, s *Status, source, tag int32, bytes int64) {
	t.Helper()
	if s.Source != source || s.Tag != tag || s.Bytes() != bytes || s.Cancelled() {
		t.Errorf("%s: status %d %d %d, cancelled %v; want %d %d %d", what, s.Source, s.Tag, s.Bytes(), s.Cancelled(), source, tag, bytes)
	}
}

// sizes of messages: none, small, eager at the limit, and by rendezvous.
var messageSizes = []int{0, 1, 2, 1000, 16384, 16385, 200_000}

// Each way to send, blocking or not, delivers each size to each way to receive.
func TestSendModes(t *testing.T) {
	type sender func(p *Process, buf unsafe.Pointer, n int64, dest, tag int32) Code
	type starter func(buf unsafe.Pointer, count int64, datatype Datatype, dest, tag int32, comm Comm, request *Request) Code
	waiting := func(p *Process, start starter, buf unsafe.Pointer, n int64, dest, tag int32) Code {
		r := RequestNull
		if code := start(buf, n, TypeInt, dest, tag, CommWorld, &r); code != Success {
			return code
		}
		var s Status
		code := p.Wait(&r, &s)
		if r != RequestNull {
			t.Error("the request isn't null after the wait")
		}
		wantStatus(t, "a send", &s, AnySource, AnyTag, 0)
		return code
	}
	senders := []sender{
		func(p *Process, b unsafe.Pointer, n int64, d, tag int32) Code {
			return p.Send(b, n, TypeInt, d, tag, CommWorld)
		},
		func(p *Process, b unsafe.Pointer, n int64, d, tag int32) Code {
			return p.Ssend(b, n, TypeInt, d, tag, CommWorld)
		},
		func(p *Process, b unsafe.Pointer, n int64, d, tag int32) Code {
			return p.Bsend(b, n, TypeInt, d, tag, CommWorld)
		},
		func(p *Process, b unsafe.Pointer, n int64, d, tag int32) Code {
			return p.Rsend(b, n, TypeInt, d, tag, CommWorld)
		},
		func(p *Process, b unsafe.Pointer, n int64, d, tag int32) Code {
			return waiting(p, p.Isend, b, n, d, tag)
		},
		func(p *Process, b unsafe.Pointer, n int64, d, tag int32) Code {
			return waiting(p, p.Issend, b, n, d, tag)
		},
		func(p *Process, b unsafe.Pointer, n int64, d, tag int32) Code {
			return waiting(p, p.Ibsend, b, n, d, tag)
		},
		func(p *Process, b unsafe.Pointer, n int64, d, tag int32) Code {
			return waiting(p, p.Irsend, b, n, d, tag)
		},
	}
	receivers := []func(p *Process, b unsafe.Pointer, n int64, tag int32, s *Status) Code{
		func(p *Process, b unsafe.Pointer, n int64, tag int32, s *Status) Code {
			return p.Recv(b, n, TypeInt, 0, tag, CommWorld, s)
		},
		func(p *Process, b unsafe.Pointer, n int64, tag int32, s *Status) Code {
			return p.Recv(b, n, TypeInt, AnySource, AnyTag, CommWorld, s)
		},
		func(p *Process, b unsafe.Pointer, n int64, tag int32, s *Status) Code {
			var r Request
			if code := p.Irecv(b, n, TypeInt, 0, tag, CommWorld, &r); code != Success {
				return code
			}
			return p.Wait(&r, s)
		},
		func(p *Process, b unsafe.Pointer, n int64, tag int32, s *Status) Code {
			var m Message
			var probed Status
			if code := p.Mprobe(AnySource, tag, CommWorld, &m, &probed); code != Success {
				return code
			}
			wantStatus(t, "Mprobe", &probed, 0, tag, 4*n)
			return p.Mrecv(b, n, TypeInt, &m, s)
		},
		func(p *Process, b unsafe.Pointer, n int64, tag int32, s *Status) Code {
			var m Message
			for flag := int32(0); flag == 0; {
				if code := p.Improbe(0, AnyTag, CommWorld, &flag, &m, nil); code != Success {
					return code
				}
			}
			var r Request
			if code := p.Imrecv(b, n, TypeInt, &m, &r); code != Success {
				return code
			}
			return p.Wait(&r, s)
		},
	}
	for _, replicas := range []int{1, 2} {
		replicated(t, 2, replicas, func(t *testing.T, p *Process) {
			ok(t, "BufferAttach", p.BufferAttach(BufferAutomatic, 0))
			tag := int32(0)
			for _, n := range messageSizes {
				for i, send := range senders {
					for k, receive := range receivers {
						tag++
						want := numbers(n, int(tag))
						if rankOf(p) == 0 {
							ok(t, fmt.Sprintf("sender %d", i), send(p, ints(want), int64(n), 1, tag))
							continue
						}
						got := make([]int32, n)
						var s Status
						ok(t, fmt.Sprintf("receiver %d", k), receive(p, ints(got), int64(n), tag, &s))
						wantStatus(t, "the receive", &s, 0, tag, int64(4*n))
						if !slices.Equal(got, want) {
							t.Fatalf("sender %d, receiver %d, %d ints: the message is spoiled", i, k, n)
						}
					}
				}
			}
			var at unsafe.Pointer
			var size int32
			ok(t, "BufferDetach", p.BufferDetach(unsafe.Pointer(&at), CountOut{P: unsafe.Pointer(&size)}))
			if uintptr(at) != 2 {
				t.Errorf("MPI_BUFFER_AUTOMATIC comes back as %#x", at)
			}
		})
	}
}

// A synchronous send waits for its receive. Other sends don't.
func TestSynchronous(t *testing.T) {
	for _, replicas := range []int{1, 2} {
		replicated(t, 2, replicas, func(t *testing.T, p *Process) {
			var x int32
			if rankOf(p) == 1 {
				// The second message is sent before the first is received.
				ok(t, "Recv", p.Recv(ints([]int32{0}), 1, TypeInt, 0, 2, CommWorld, nil))
				ok(t, "Recv", p.Recv(unsafe.Pointer(&x), 1, TypeInt, 0, 1, CommWorld, nil))
				return
			}
			var r Request
			ok(t, "Issend", p.Issend(unsafe.Pointer(&x), 1, TypeInt, 1, 1, CommWorld, &r))
			for range 100 {
				var flag int32
				if ok(t, "Test", p.Test(&r, &flag, nil)); flag != 0 {
					t.Fatal("a synchronous send ends although no rank receives")
				}
			}
			ok(t, "Send", p.Send(unsafe.Pointer(&x), 1, TypeInt, 1, 2, CommWorld))
			ok(t, "Wait", p.Wait(&r, nil))

			// A send to itself waits as well.
			ok(t, "Issend", p.Issend(unsafe.Pointer(&x), 1, TypeInt, 0, 3, CommWorld, &r))
			var flag int32
			if ok(t, "Test", p.Test(&r, &flag, nil)); flag != 0 {
				t.Fatal("a synchronous send to itself ends although no rank receives")
			}
			var y int32
			ok(t, "Recv", p.Recv(unsafe.Pointer(&y), 1, TypeInt, 0, 3, CommWorld, nil))
			ok(t, "Wait", p.Wait(&r, nil))
		})
	}
}

// Types that aren't contiguous are packed on one side and unpacked on the other.
func TestStridedMessages(t *testing.T) {
	ranks(t, 2, func(t *testing.T, p *Process) {
		var every2nd Datatype
		ok(t, "TypeVector", p.TypeVector(3, 1, 2, TypeInt, &every2nd))
		ok(t, "TypeCommit", p.TypeCommit(&every2nd))
		buf := numbers(5, 10)
		if rankOf(p) == 0 {
			ok(t, "Send", p.Send(ints(buf), 1, every2nd, 1, 1, CommWorld))
			var r Request
			ok(t, "Issend", p.Issend(ints(buf), 1, every2nd, 1, 2, CommWorld, &r))
			ok(t, "Wait", p.Wait(&r, nil))
			ok(t, "SendrecvReplace", p.SendrecvReplace(ints(buf), 1, every2nd, 1, 3, 1, 3, CommWorld, nil))
			if want := []int32{1, 11, 3, 13, 5}; !slices.Equal(buf, want) {
				t.Errorf("%v came back, want %v", buf, want)
			}
			return
		}
		got := make([]int32, 3)
		ok(t, "Recv", p.Recv(ints(got), 3, TypeInt, 0, 1, CommWorld, nil))
		if want := []int32{10, 12, 14}; !slices.Equal(got, want) {
			t.Errorf("got %v, want %v", got, want)
		}
		into := make([]int32, 5)
		var r Request
		ok(t, "Irecv", p.Irecv(ints(into), 1, every2nd, 0, 2, CommWorld, &r))
		ok(t, "Wait", p.Wait(&r, nil))
		if want := []int32{10, 0, 12, 0, 14}; !slices.Equal(into, want) {
			t.Errorf("got %v, want %v", into, want)
		}
		ok(t, "Send", p.Send(ints([]int32{1, 3, 5}), 3, TypeInt, 0, 3, CommWorld))
		ok(t, "Recv", p.Recv(ints(got), 3, TypeInt, 0, 3, CommWorld, nil))
	})
}

// Several threads of each rank send and receive at the same time, each with its own tag.
func TestThreads(t *testing.T) {
	ranks(t, 2, func(t *testing.T, p *Process) {
		const threads, messages = 4, 200
		peer := int32(1 - rankOf(p))
		var all sync.WaitGroup
		for tag := range int32(threads) {
			all.Go(func() {
				runtime.LockOSThread()
				for i := range int32(messages) {
					var got int32
					var rs [2]Request
					ok(t, "Irecv", p.Irecv(unsafe.Pointer(&got), 1, TypeInt, peer, tag, CommWorld, &rs[0]))
					ok(t, "Isend", p.Isend(unsafe.Pointer(&i), 1, TypeInt, peer, tag, CommWorld, &rs[1]))
					ok(t, "Waitall", p.Waitall(2, &rs[0], nil))
					if got != i {
						t.Errorf("thread %d got %d for %d", tag, got, i)
						return
					}
				}
			})
		}
		all.Wait()
	})
}

// The common operations allocate nothing once warm.
func TestPointAllocations(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	ranks(t, 1, func(t *testing.T, p *Process) {
		out, in := numbers(2, 1), make([]int32, 2)
		var s Status
		var r Request
		var rs [2]Request
		for name, f := range map[string]func(){
			"Send and Recv": func() {
				p.Send(ints(out), 2, TypeInt, 0, 1, CommWorld)
				p.Recv(ints(in), 2, TypeInt, 0, 1, CommWorld, &s)
			},
			"Irecv, Isend and Waitall": func() {
				p.Irecv(ints(in), 2, TypeInt, 0, 1, CommWorld, &rs[0])
				p.Isend(ints(out), 2, TypeInt, 0, 1, CommWorld, &rs[1])
				p.Waitall(2, &rs[0], nil)
			},
			"Irecv, Send, Testany and Wait": func() {
				var i, flag int32
				p.Irecv(ints(in), 2, TypeInt, 0, 1, CommWorld, &r)
				p.Send(ints(out), 2, TypeInt, 0, 1, CommWorld)
				p.Testany(1, &r, &i, &flag, &s)
				p.Wait(&r, &s)
			},
		} {
			if n := testing.AllocsPerRun(200, f); n > 0 {
				t.Errorf("%s: %v allocations", name, n)
			}
		}
	})
}
