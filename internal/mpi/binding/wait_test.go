package binding

import (
	"testing"
	"unsafe"
)

// Waits and tests for any, some and all requests report each request once, and skip null and
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
							t.Fatalf("request %d is reported twice, or isn't null", i)
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
						t.Errorf("message %d is %d, reported: %v", i, got[i], seen[2*i])
					}
				}
				if is := end(t, p, rs, ss); name != "Waitall" && name != "Testall" && len(is) > 0 {
					t.Errorf("without requests %v is reported", is)
				}
			})
		})
	}
}

// If several requests end and one has failed, each status has its own error.
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
