package binding

import (
	"slices"
	"strings"
	"sync"
	"testing"
	"unsafe"
)

// A message that is larger than its buffer, or than a collective expects, is an error that
// names the sender, the tag and both sizes.
func TestSizesAreTold(t *testing.T) {
	const large = 100_000 // bytes: more than the eager limit
	buf := func() unsafe.Pointer { return unsafe.Pointer(unsafe.SliceData(make([]byte, large))) }
	send := func(p *Process, count int64, comm Comm) { p.Send(buf(), count, TypeByte, 1-int32(rankOf(p)), 7, comm) }
	for what, c := range map[string]struct {
		// sends and receives are the calls of ranks 0 and 1 of the world
		sends, receives func(t *testing.T, p *Process)
		want            string // error of rank 1, after the name of the function
	}{
		"a small message": {
			func(t *testing.T, p *Process) { send(p, 80, CommWorld) },
			func(t *testing.T, p *Process) { p.Recv(buf(), 10, TypeInt, 0, 7, CommWorld, nil) },
			"MPI_Recv on MPI_COMM_WORLD, rank 1: the message from rank 0 with tag 7 has 80 bytes, the receive buffer 40 (MPI_ERR_TRUNCATE)",
		},
		"a large message, in a communicator of another order": {
			func(t *testing.T, p *Process) { p.Send(buf(), large, TypeByte, 0, 7, reversed(t, p)) },
			func(t *testing.T, p *Process) { p.Recv(buf(), 10, TypeInt, AnySource, AnyTag, reversed(t, p), nil) },
			"MPI_Recv on turned round, rank 0: the message from rank 1 with tag 7 has 100000 bytes, the receive buffer 40 (MPI_ERR_TRUNCATE)",
		},
		"a request": {
			func(t *testing.T, p *Process) { send(p, 80, CommWorld) },
			func(t *testing.T, p *Process) {
				var r Request
				p.Irecv(buf(), 0, TypeInt, AnySource, 7, CommWorld, &r)
				p.Waitall(1, &r, nil)
			},
			"MPI_Waitall on MPI_COMM_WORLD, rank 1: MPI_Irecv failed: the message from rank 0 with tag 7 has 80 bytes, the receive buffer 0 (MPI_ERR_TRUNCATE)",
		},
		"a broadcast": {
			func(t *testing.T, p *Process) { p.Bcast(Blocking("MPI_Bcast"), buf(), 80, TypeByte, 0, CommWorld) },
			func(t *testing.T, p *Process) { p.Bcast(Blocking("MPI_Bcast"), buf(), 10, TypeInt, 0, CommWorld) },
			"MPI_Bcast on MPI_COMM_WORLD, rank 1: the ranks disagree about the size of the data: rank 0 has sent 80 bytes where 40 are expected (MPI_ERR_TRUNCATE)",
		},
		"a gather of too little": {
			func(t *testing.T, p *Process) {
				p.Gather(Blocking("MPI_Gather"), buf(), 3, TypeByte, nil, 0, TypeByte, 1, CommWorld)
			},
			func(t *testing.T, p *Process) {
				p.Gather(Blocking("MPI_Gather"), buf(), 4, TypeByte, buf(), 4, TypeByte, 1, CommWorld)
			},
			"MPI_Gather on MPI_COMM_WORLD, rank 1: the ranks disagree about the size of the data: rank 0 has sent 3 bytes where 4 are expected (MPI_ERR_TRUNCATE)",
		},
	} {
		t.Run(what, func(t *testing.T) {
			var mu sync.Mutex
			var said []string
			expectAbort(t, func(code int, why string) {
				mu.Lock()
				defer mu.Unlock()
				said = append(said, why)
			})
			ranks(t, 2, func(t *testing.T, p *Process) {
				if rankOf(p) == 0 {
					c.sends(t, p)
					return
				}
				c.receives(t, p)
				t.Error("an error with MPI_ERRORS_ARE_FATAL returns")
			})
			if !slices.Contains(said, c.want) {
				t.Errorf("said\n%s\nwant\n%s", strings.Join(said, "\n"), c.want)
			}
		})
	}
}

// reversed is the world in the opposite order.
func reversed(t *testing.T, p *Process) (c Comm) {
	ok(t, "CommSplit", p.CommSplit(CommWorld, 0, -int32(rankOf(p)), &c))
	name := []byte("turned round\x00")
	ok(t, "CommSetName", p.CommSetName(c, &name[0]))
	return c
}
