package binding

import (
	"slices"
	"testing"
	"unsafe"
)

// Waits and tests for any, some and all requests tell of each once, and skip null and
// inactive ones.
func TestCompletion(t *testing.T) {
	const n = 12
	type ender func(t *testing.T, p *Process, rs []Request, ss []Status) []int32
	every := make([]int32, 2*n)
	for i := range every {
		every[i] = int32(i)
	}
	none := func(rs []Request) []int32 { // the active ones
		var left []int32
		for i, r := range rs {
			if r != RequestNull {
				left = append(left, int32(i))
			}
		}
		return left
	}
	enders := map[string]ender{
		"Waitall": func(t *testing.T, p *Process, rs []Request, ss []Status) []int32 {
			left := none(rs)
			all := make([]Status, len(rs))
			ok(t, "Waitall", p.Waitall(int32(len(rs)), &rs[0], &all[0]))
			for i, h := range left {
				ss[i] = all[h]
			}
			return left
		},
		"Testall": func(t *testing.T, p *Process, rs []Request, ss []Status) []int32 {
			left, flag := none(rs), int32(0)
			all := make([]Status, len(rs))
			for flag == 0 {
				ok(t, "Testall", p.Testall(int32(len(rs)), &rs[0], &flag, &all[0]))
			}
			for i, h := range left {
				ss[i] = all[h]
			}
			return left
		},
		"Waitany": func(t *testing.T, p *Process, rs []Request, ss []Status) []int32 {
			var i int32
			ok(t, "Waitany", p.Waitany(int32(len(rs)), &rs[0], &i, &ss[0]))
			if i == Undefined {
				return nil
			}
			return []int32{i}
		},
		"Testany": func(t *testing.T, p *Process, rs []Request, ss []Status) []int32 {
			var i, flag int32
			for flag == 0 {
				ok(t, "Testany", p.Testany(int32(len(rs)), &rs[0], &i, &flag, &ss[0]))
			}
			if i == Undefined {
				return nil
			}
			return []int32{i}
		},
		"Waitsome": func(t *testing.T, p *Process, rs []Request, ss []Status) []int32 {
			var out int32
			is := make([]int32, len(rs))
			ok(t, "Waitsome", p.Waitsome(int32(len(rs)), &rs[0], &out, &is[0], &ss[0]))
			if out == 0 {
				t.Fatal("Waitsome comes back with none")
			}
			return is[:max(out, 0)]
		},
		"Testsome": func(t *testing.T, p *Process, rs []Request, ss []Status) []int32 {
			var out int32
			is := make([]int32, len(rs))
			for out == 0 {
				ok(t, "Testsome", p.Testsome(int32(len(rs)), &rs[0], &out, &is[0], &ss[0]))
			}
			return is[:max(out, 0)]
		},
		"Wait": func(t *testing.T, p *Process, rs []Request, ss []Status) []int32 {
			for i := range rs {
				if rs[i] != RequestNull {
					ok(t, "Wait", p.Wait(&rs[i], &ss[0]))
					return []int32{int32(i)}
				}
			}
			return nil
		},
		"Request_get_status_any and Test": func(t *testing.T, p *Process, rs []Request, ss []Status) []int32 {
			var i, flag int32
			for flag == 0 {
				ok(t, "RequestGetStatusAny", p.RequestGetStatusAny(int32(len(rs)), &rs[0], &i, &flag, &ss[0]))
			}
			if i == Undefined {
				return nil
			}
			var again Status
			if ok(t, "RequestGetStatus", p.RequestGetStatus(rs[i], &flag, &again)); flag != 1 || again != ss[0] {
				t.Errorf("a second look says %d %+v, the first %+v", flag, again, ss[0])
			}
			if ok(t, "Test", p.Test(&rs[i], &flag, &ss[0])); flag != 1 || again != ss[0] {
				t.Errorf("the test says %d %+v, the look before %+v", flag, again, ss[0])
			}
			return []int32{i}
		},
		"Request_get_status_some and Waitall": func(t *testing.T, p *Process, rs []Request, ss []Status) []int32 {
			var out int32
			is := make([]int32, len(rs))
			for out == 0 {
				ok(t, "RequestGetStatusSome", p.RequestGetStatusSome(int32(len(rs)), &rs[0], &out, &is[0], &ss[0]))
			}
			for _, i := range is[:max(out, 0)] {
				ok(t, "Wait", p.Wait(&rs[i], nil))
			}
			return is[:max(out, 0)]
		},
	}
	for name, end := range enders {
		t.Run(name, func(t *testing.T) {
			ranks(t, 2, func(t *testing.T, p *Process) {
				rs, ss := make([]Request, 2*n), make([]Status, 2*n)
				got := make([]int32, n)
				peer := int32(1 - rankOf(p))
				for i := range int32(n) {
					ok(t, "Irecv", p.Irecv(unsafe.Pointer(&got[i]), 1, TypeInt, peer, i, CommWorld, &rs[2*i]))
					rs[2*i+1] = RequestNull
				}
				for i := range int32(n) { // large ones between, and null
					if i%3 == 0 {
						continue
					}
					sent := i * i
					if i%3 == 1 {
						ok(t, "Issend", p.Issend(unsafe.Pointer(&sent), 1, TypeInt, peer, i, CommWorld, &rs[2*i+1]))
					} else {
						ok(t, "Isend", p.Isend(unsafe.Pointer(&sent), 1, TypeInt, peer, i, CommWorld, &rs[2*i+1]))
					}
				}
				for i := int32(0); i < n; i += 3 {
					sent := i * i
					ok(t, "Send", p.Send(unsafe.Pointer(&sent), 1, TypeInt, peer, i, CommWorld))
				}
				seen := map[int32]bool{}
				for len(none(rs)) > 0 {
					for k, i := range end(t, p, rs, ss) {
						if seen[i] || rs[i] != RequestNull {
							t.Fatalf("request %d is told twice, or isn't null", i)
						}
						seen[i] = true
						if i%2 == 0 {
							wantStatus(t, "a receive", &ss[k], peer, i/2, 4)
						} else {
							wantStatus(t, "a send", &ss[k], AnySource, AnyTag, 0)
						}
					}
				}
				for i := range int32(n) {
					if got[i] != i*i || !seen[2*i] {
						t.Errorf("message %d is %d, told: %v", i, got[i], seen[2*i])
					}
				}
				if is := end(t, p, rs, ss); name != "Waitall" && name != "Testall" && len(is) > 0 {
					t.Errorf("of nothing %v is told", is)
				}
			})
		})
	}
}

// Where several requests end and one has failed, each status has its own error.
func TestErrorsInStatuses(t *testing.T) {
	returning(t, 1, func(t *testing.T, p *Process) {
		out, in := numbers(4, 1), make([]int32, 4)
		for name, wait := range map[string]func(rs *Request, ss *Status) Code{
			"Waitall": func(rs *Request, ss *Status) Code { return p.Waitall(3, rs, ss) },
			"Testall": func(rs *Request, ss *Status) Code {
				var flag int32
				return p.Testall(3, rs, &flag, ss)
			},
			"Waitsome": func(rs *Request, ss *Status) Code {
				var n int32
				var is [3]int32
				return p.Waitsome(3, rs, &n, &is[0], ss)
			},
			"Testsome": func(rs *Request, ss *Status) Code {
				var n int32
				var is [3]int32
				return p.Testsome(3, rs, &n, &is[0], ss)
			},
		} {
			var rs [3]Request
			var ss [3]Status
			for i := range rs {
				ss[i].Error = 77
				ok(t, "Irecv", p.Irecv(ints(in), int64(4-i), TypeInt, 0, int32(i), CommWorld, &rs[i]))
				ok(t, "Send", p.Send(ints(out), 3, TypeInt, 0, int32(i), CommWorld))
			}
			wantCode(t, name, wait(&rs[0], &ss[0]), ErrInStatus)
			for i, want := range []Code{Success, Success, ErrTruncate} {
				if ss[i].Error != int32(want) || rs[i] != RequestNull {
					t.Errorf("%s: status %d has the error %d, want %d; the request is %#x", name, i, ss[i].Error, want, rs[i])
				}
			}
			for i := range rs {
				ss[i].Error = 77
				ok(t, "Irecv", p.Irecv(ints(in), 4, TypeInt, 0, int32(i), CommWorld, &rs[i]))
				ok(t, "Send", p.Send(ints(out), 3, TypeInt, 0, int32(i), CommWorld))
			}
			ok(t, name, wait(&rs[0], &ss[0]))
			if ss[0].Error != 77 || ss[2].Error != 77 {
				t.Errorf("%s changes the error in the statuses although all went well", name)
			}
		}
	})
}

// Persistent operations are started again and again, each time with what is in the
// buffer then.
func TestPersistent(t *testing.T) {
	for _, replicas := range []int{1, 2} {
		replicated(t, 2, replicas, func(t *testing.T, p *Process) {
			ok(t, "BufferAttach", p.BufferAttach(BufferAutomatic, 0))
			var every2nd Datatype
			ok(t, "TypeVector", p.TypeVector(2, 1, 2, TypeInt, &every2nd))
			ok(t, "TypeCommit", p.TypeCommit(&every2nd))
			peer := int32(1 - rankOf(p))
			large := numbers(100_000, 0)
			out, in := make([]int32, 3), make([]int32, 3)
			largeIn := make([]int32, len(large))
			rs := make([]Request, 8)
			ok(t, "RecvInit", p.RecvInit(ints(in), 1, every2nd, peer, 1, CommWorld, &rs[0]))
			ok(t, "RecvInit", p.RecvInit(ints(largeIn), int64(len(large)), TypeInt, AnySource, 2, CommWorld, &rs[1]))
			ok(t, "SendInit", p.SendInit(ints(out), 1, every2nd, peer, 1, CommWorld, &rs[2]))
			ok(t, "SsendInit", p.SsendInit(ints(large), int64(len(large)), TypeInt, peer, 2, CommWorld, &rs[3]))
			ok(t, "BsendInit", p.BsendInit(ints(large), int64(len(large)), TypeInt, peer, 3, CommWorld, &rs[4]))
			ok(t, "RecvInit", p.RecvInit(ints(largeIn), int64(len(large)), TypeInt, peer, 3, CommWorld, &rs[5]))
			ok(t, "RsendInit", p.RsendInit(ints(out), 3, TypeInt, peer, 4, CommWorld, &rs[6]))
			ok(t, "SendInit", p.SendInit(ints(out), 3, TypeInt, ProcNull, 4, CommWorld, &rs[7]))
			ok(t, "TypeFree", p.TypeFree(&every2nd)) // the requests keep it
			wantInactive := func() {
				t.Helper()
				var s Status
				flag := int32(0)
				if ok(t, "Test", p.Test(&rs[0], &flag, &s)); flag != 1 {
					t.Error("an inactive request isn't over")
				}
				wantStatus(t, "an inactive request", &s, AnySource, AnyTag, 0)
			}
			for round := range int32(20) {
				wantInactive()
				copy(out, []int32{round, -1, 2 * round})
				large[7] = round
				ss := make([]Status, 8)
				ok(t, "Startall", p.Startall(8, &rs[0]))
				ok(t, "Recv", p.Recv(ints(make([]int32, 3)), 3, TypeInt, peer, 4, CommWorld, nil))
				ok(t, "Waitall", p.Waitall(8, &rs[0], &ss[0]))
				wantStatus(t, "the small receive", &ss[0], peer, 1, 8)
				wantStatus(t, "the large receive", &ss[1], peer, 2, int64(4*len(large)))
				if in[0] != round || in[1] != 0 || in[2] != 2*round || largeIn[7] != round {
					t.Fatalf("round %d brings %v and %d", round, in, largeIn[7])
				}
			}
			wantInactive()
			var flag int32
			for i := range rs {
				ok(t, "RequestFree", p.RequestFree(&rs[i]))
			}
			if ok(t, "Testall", p.Testall(8, &rs[0], &flag, nil)); rs[0] != RequestNull || flag != 1 {
				t.Error("freed requests aren't null")
			}
			var at unsafe.Pointer
			var size int32
			ok(t, "BufferDetach", p.BufferDetach(unsafe.Pointer(&at), CountOut{P: unsafe.Pointer(&size)}))
		})
	}
}

// What must be started is persistent and inactive.
func TestStartErrors(t *testing.T) {
	returning(t, 1, func(t *testing.T, p *Process) {
		x := []int32{0}
		var r, irecv Request
		ok(t, "RecvInit", p.RecvInit(ints(x), 1, TypeInt, 0, 1, CommWorld, &r))
		ok(t, "Start", p.Start(&r))
		wantCode(t, "a second start", p.Start(&r), ErrRequest)
		ok(t, "Cancel", p.Cancel(&r))
		var s Status
		if ok(t, "Wait", p.Wait(&r, &s)); !s.Cancelled() {
			t.Error("the receive isn't cancelled")
		}
		wantCode(t, "Cancel", p.Cancel(&r), ErrRequest)
		ok(t, "Start", p.Start(&r))
		ok(t, "Send", p.Send(ints(x), 1, TypeInt, 0, 1, CommWorld))
		ok(t, "Wait", p.Wait(&r, &s))
		wantStatus(t, "a receive after a cancelled one", &s, 0, 1, 4)
		ok(t, "Irecv", p.Irecv(ints(x), 1, TypeInt, 0, 1, CommWorld, &irecv))
		wantCode(t, "the start of an Irecv", p.Start(&irecv), ErrRequest)
		ok(t, "Cancel", p.Cancel(&irecv))
		ok(t, "Wait", p.Wait(&irecv, nil))
	})
}

// A receive is cancelled if no message has come, else it ends as ever.
func TestCancel(t *testing.T) {
	ranks(t, 1, func(t *testing.T, p *Process) {
		x := []int32{0}
		var r Request
		var s Status
		var flag int32
		ok(t, "Irecv", p.Irecv(ints(x), 1, TypeInt, AnySource, 1, CommWorld, &r))
		ok(t, "Cancel", p.Cancel(&r))
		ok(t, "Wait", p.Wait(&r, &s))
		if ok(t, "TestCancelled", p.TestCancelled(&s, &flag)); flag != 1 {
			t.Error("the receive isn't cancelled")
		}
		ok(t, "Send", p.Send(ints([]int32{3}), 1, TypeInt, 0, 1, CommWorld))
		ok(t, "Irecv", p.Irecv(ints(x), 1, TypeInt, AnySource, 1, CommWorld, &r))
		ok(t, "Cancel", p.Cancel(&r))
		ok(t, "Wait", p.Wait(&r, &s))
		if ok(t, "TestCancelled", p.TestCancelled(&s, &flag)); flag != 0 || x[0] != 3 {
			t.Error("a receive that had its message is cancelled")
		}
		ok(t, "Issend", p.Issend(ints(x), 1, TypeInt, 0, 2, CommWorld, &r))
		ok(t, "Cancel", p.Cancel(&r))
		ok(t, "Recv", p.Recv(ints(x), 1, TypeInt, 0, 2, CommWorld, &s))
		if ok(t, "Wait", p.Wait(&r, &s)); s.Cancelled() {
			t.Error("a send is cancelled")
		}
	})
}

// A request that is freed goes on; its data arrives, also in a type that isn't
// contiguous, and a communicator that is freed meanwhile does no harm.
func TestFreeActive(t *testing.T) {
	ranks(t, 2, func(t *testing.T, p *Process) {
		var comm Comm
		ok(t, "CommDup", p.CommDup(CommWorld, &comm))
		large := numbers(100_000, 1)
		var r Request
		if rankOf(p) == 0 {
			ok(t, "Isend", p.Isend(ints(large), int64(len(large)), TypeInt, 1, 1, comm, &r))
			ok(t, "RequestFree", p.RequestFree(&r))
			ok(t, "CommFree", p.CommFree(&comm))
			ok(t, "Recv", p.Recv(ints(large), 1, TypeInt, 1, 2, CommWorld, nil))
			return
		}
		got := make([]int32, len(large))
		ok(t, "Irecv", p.Irecv(ints(got), int64(len(large)), TypeInt, 0, 1, comm, &r))
		ok(t, "CommFree", p.CommFree(&comm))
		ok(t, "Wait", p.Wait(&r, nil))
		if !slices.Equal(got, large) {
			t.Error("the message is spoiled")
		}
		ok(t, "Send", p.Send(ints(large), 1, TypeInt, 0, 2, CommWorld))
	})
}

// Buffered sends end although nobody receives, up to what the buffer was given for.
func TestBufferedSends(t *testing.T) {
	const n = 50_000
	returning(t, 2, func(t *testing.T, p *Process) {
		data := numbers(n, 3)
		if rankOf(p) == 1 {
			var x int32
			ok(t, "Recv", p.Recv(unsafe.Pointer(&x), 1, TypeInt, 0, 2, CommWorld, nil))
			for range 3 {
				got := make([]int32, n)
				ok(t, "Recv", p.Recv(ints(got), n, TypeInt, 0, 1, CommWorld, nil))
				if !slices.Equal(got, numbers(n, 3)) {
					t.Error("the message is spoiled")
				}
			}
			return
		}
		const each = 4*n + BsendOverhead
		buffer := make([]byte, 3*each+100)
		ok(t, "BufferAttach", p.BufferAttach(unsafe.Pointer(&buffer[0]), int64(len(buffer))))
		wantCode(t, "a second attach", p.BufferAttach(unsafe.Pointer(&buffer[0]), 1), ErrBuffer)
		for range 3 {
			ok(t, "Bsend", p.Bsend(ints(data), n, TypeInt, 1, 1, CommWorld))
			clear(data) // the message isn't there any more
			copy(data, numbers(n, 3))
		}
		wantCode(t, "a Bsend too many", p.Bsend(ints(data), n, TypeInt, 1, 1, CommWorld), ErrBuffer)
		var flush Request
		var flag int32
		ok(t, "BufferIflush", p.BufferIflush(&flush))
		if ok(t, "Test", p.Test(&flush, &flag, nil)); flag != 0 {
			t.Error("the buffer is flushed although nobody has received")
		}
		ok(t, "Send", p.Send(ints(data), 1, TypeInt, 1, 2, CommWorld))
		ok(t, "Wait", p.Wait(&flush, nil))
		ok(t, "BufferFlush", p.BufferFlush())
		var at unsafe.Pointer
		var size int32
		ok(t, "BufferDetach", p.BufferDetach(unsafe.Pointer(&at), CountOut{P: unsafe.Pointer(&size)}))
		if at != unsafe.Pointer(&buffer[0]) || int(size) != len(buffer) {
			t.Errorf("detach gives %p and %d bytes back", at, size)
		}
		wantCode(t, "a second detach", p.BufferDetach(unsafe.Pointer(&at), CountOut{P: unsafe.Pointer(&size)}), ErrBuffer)
	})
}

// Exchanges around a ring, with their ends at nobody, blocking and not.
func TestSendrecv(t *testing.T) {
	const n = 3
	ranks(t, n, func(t *testing.T, p *Process) {
		me := int32(rankOf(p))
		right, left := me+1, me-1
		if right == n {
			right = ProcNull
		}
		if left < 0 {
			left = ProcNull
		}
		for _, size := range []int{1, 40_000} {
			out, in := numbers(size, int(me)), numbers(size, 99)
			want := numbers(size, int(left))
			var s Status
			check := func(what string, code Code, got []int32) {
				t.Helper()
				ok(t, what, code)
				if left == ProcNull {
					wantStatus(t, what, &s, ProcNull, AnyTag, 0)
					return
				}
				wantStatus(t, what, &s, left, 5, int64(4*size))
				if !slices.Equal(got, want) {
					t.Errorf("%s: the message is spoiled", what)
				}
			}
			check("Sendrecv", p.Sendrecv(ints(out), int64(size), TypeInt, right, 5, ints(in), int64(size), TypeInt, left, 5, CommWorld, &s), in)
			both := slices.Clone(out)
			check("SendrecvReplace", p.SendrecvReplace(ints(both), int64(size), TypeInt, right, 5, left, 5, CommWorld, &s), both)
			var r Request
			clear(in)
			ok(t, "Isendrecv", p.Isendrecv(ints(out), int64(size), TypeInt, right, 5, ints(in), int64(size), TypeInt, left, 5, CommWorld, &r))
			check("Isendrecv", p.Wait(&r, &s), in)
			both = slices.Clone(out)
			ok(t, "IsendrecvReplace", p.IsendrecvReplace(ints(both), int64(size), TypeInt, right, 5, left, 5, CommWorld, &r))
			check("IsendrecvReplace", p.Wait(&r, &s), both)
		}
	})
}
