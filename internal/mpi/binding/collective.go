package binding

import (
	"banyan/internal/mpi/comm"
	"banyan/internal/runtime/engine"
)

// Variant is which of a collective's functions the program called. A collective is one
// method of Process, and the entry points say the variant:
//
//	MPI_Bcast       blocking: the call waits for the end
//	MPI_Ibcast      nonblocking: the call starts the operation and returns a request
//	MPI_Bcast_init  persistent: the call returns a request that can be started repeatedly
//
// MPI_X_c, with large counts, is the same variant as MPI_X.
type Variant struct {
	function   string
	request    *Request // nil: blocking
	persistent bool
}

// Blocking is the variant of MPI_X.
func Blocking(function string) Variant { return Variant{function: function} }

// Nonblocking is the variant of MPI_Ix.
func Nonblocking(function string, r *Request) Variant {
	return Variant{function: function, request: r}
}

// Persistent is the variant of MPI_X_init. The info argument has no effect.
func Persistent(function string, r *Request) Variant {
	return Variant{function: function, request: r, persistent: true}
}

// collective is one call of a collective: its communicator, and its data as blocks of bytes
// for package comm. Contiguous data is the program's own memory. Other data is packed into a
// buffer when the operation starts, and unpacked at its end.
//
// Methods that take arguments of the program check them. Only the first error counts: code is
// what the error handler made of it. A collective is also its request's work.
type collective struct {
	Variant
	p    *Process
	c    *communicator
	code Code

	out, in []data    // to pack before, to unpack after
	pooled  []*[]byte // buffers that blocks share
	blocks  [2][][]byte
	reach   [2]reach // of what is sent, and received
	plan    *comm.Plan
	started comm.Operation
}

// collective begins a call. It returns nil, and the code, if there is no such communicator. It
// returns nil, too, for an intercommunicator: those that have no method for it end with elsewhere.
func (p *Process) collective(v Variant, h Comm) (*collective, Code) {
	c := p.communicator(h)
	if c == nil {
		return nil, p.noComm(v.function, h)
	}
	k := c.idle.Swap(nil)
	if k == nil { // as always on an intercommunicator
		if c.inter != nil {
			return nil, Success
		}
		k = new(collective)
	}
	k.Variant, k.p, k.c, k.code = v, p, c, Success
	return k, Success
}

// good says that all arguments so far were right.
func (k *collective) good() bool { return k.code == Success }

// fail notes a wrong argument.
func (k *collective) fail(class Code, format string, args ...any) {
	if k.good() {
		k.code = k.p.fail(k.c, k.function, class, format, args...)
	}
}

func (k *collective) size() int { return k.c.comm.Size() }
func (k *collective) rank() int { return k.c.comm.Rank() }

// root checks a root, and tells whether it is this rank.
func (k *collective) root(root int32) bool {
	if root < 0 || int(root) >= k.size() {
		k.fail(ErrRoot, "the root is %d, and the communicator has %d ranks", root, k.size())
	}
	return int(root) == k.rank()
}

// end runs, starts or keeps the plan, as the variant says.
func (k *collective) end(plan *comm.Plan) Code {
	p := k.p
	k.plan = plan
	switch {
	case k.persistent:
		if err := plan.Keep(); err != nil {
			return k.abandon(err)
		}
		return p.keepRequest(k.c, k.function, k.begin, k, k.request)
	case k.request != nil:
		k.pack()
		o, err := plan.Start()
		if err != nil {
			return k.abandon(err)
		}
		k.started = o
		return p.startRequest(k.c, k.function, o.Handle(), k, k.request)
	}
	k.pack()
	if err := plan.Run(); err != nil {
		return k.abandon(err)
	}
	k.unpack()
	k.release()
	return Success
}

// stop ends a call with wrong arguments.
func (k *collective) stop() Code {
	code := k.code
	k.release()
	return code
}

// abandon ends a call with an error of package comm.
func (k *collective) abandon(err error) Code {
	c, p, function := k.c, k.p, k.function
	k.release()
	return p.failWith(c, function, err)
}

// begin starts the operation of a persistent request.
func (k *collective) begin(r *request) Code {
	k.pack()
	o, err := k.plan.Start()
	if err != nil {
		return k.p.failWith(k.c, k.function, err)
	}
	k.started = o
	r.follow(o.Handle())
	return Success
}

// finish implements work.
func (k *collective) finish(_ *request, _ engine.Status, err error) error {
	if err != nil {
		return k.started.Outcome(err)
	}
	k.unpack()
	return nil
}

// free implements work.
func (k *collective) free() error {
	if k.persistent {
		k.plan.Free()
	}
	k.release()
	return nil
}

func (k *collective) pack() {
	for i := range k.out {
		d := &k.out[i]
		d.typ.Pack(d.bytes, d.buf, d.count, 0)
	}
}

func (k *collective) unpack() {
	for i := range k.in {
		d := &k.in[i]
		d.typ.Unpack(d.bytes, d.buf, d.count, 0)
	}
}

// release gives back the buffers and the collective itself.
func (k *collective) release() {
	if len(k.pooled)|len(k.out)|len(k.in)|len(k.blocks[0])|len(k.blocks[1]) != 0 {
		k.giveBack()
	}
	c := k.c
	k.reach = [2]reach{}
	k.Variant, k.c, k.plan, k.started = Variant{}, nil, nil, comm.Operation{}
	if c.inter == nil {
		c.idle.Store(k)
	}
}

// giveBack is release for a collective that has buffers and lists.
func (k *collective) giveBack() {
	for _, b := range k.pooled {
		scratch.give(b)
	}
	clear(k.pooled)
	clear(k.out)
	clear(k.in)
	clear(k.blocks[0])
	clear(k.blocks[1])
	k.pooled, k.out, k.in = k.pooled[:0], k.out[:0], k.in[:0]
	k.blocks[0], k.blocks[1] = k.blocks[0][:0], k.blocks[1][:0]
}
