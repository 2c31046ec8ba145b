package rma

import (
	"errors"
	"fmt"
	"math"
	"unsafe"

	"banyan/internal/mpi/datatype"
	"banyan/internal/mpi/reduce"
	"banyan/internal/runtime/engine"
)

// Causes of errors.
var (
	// ErrRange is about memory outside of a part.
	ErrRange = errors.New("outside of the window")
	// ErrSync is about accesses and calls that the present epoch doesn't allow.
	ErrSync = errors.New("wrong epoch")
	// ErrReplicas is about what jobs with replicas can't do.
	ErrReplicas = errors.New("not with replicas")
)

// failure is an error with a text of its own and a cause.
type failure struct {
	text  string
	cause error
}

func (f *failure) Error() string { return f.text }
func (f *failure) Unwrap() error { return f.cause }

func wrong(cause error, format string, args ...any) error {
	return &failure{fmt.Sprintf(format, args...), cause}
}

// Buffer is memory of the origin: count instances of a type at an address.
type Buffer struct {
	Type  *datatype.Type
	At    unsafe.Pointer
	Count int64
}

// bytes is the number of bytes of data.
func (b *Buffer) bytes() int64 {
	if b.Type == nil {
		return 0
	}
	n, _ := b.Type.Bytes(b.Count)
	return n
}

// contiguous is the data as it lies in memory, if that is as in a message.
func (b *Buffer) contiguous() ([]byte, bool) {
	n := b.bytes()
	if n == 0 {
		return nil, true
	}
	first, ok := b.Type.Contiguous(b.Count)
	if !ok {
		return nil, false
	}
	return unsafe.Slice((*byte)(unsafe.Add(b.At, first)), n), true
}

// packed is the data as in a message: the memory itself, or a copy.
func (b *Buffer) packed() []byte {
	data, ok := b.contiguous()
	if !ok {
		data = make([]byte, b.bytes())
		b.Type.Pack(data, b.At, b.Count, 0)
	}
	return data
}

// unpack puts data into the memory.
func (b *Buffer) unpack(data []byte) {
	if len(data) > 0 {
		b.Type.Unpack(data, b.At, b.Count, 0)
	}
}

// Access is a call that accesses a target's part. The caller has checked its arguments, except for
// the epoch and the range.
type Access struct {
	verb   verb
	Rank   int
	Disp   int64 // in units of the target
	Type   *datatype.Type
	Count  int64
	Op     reduce.Op
	Kind   datatype.Kind // of the elements of an accumulate
	Origin Buffer        // what is given
	With   Buffer        // to compare with
	Result Buffer        // where what is fetched goes
	asks   bool          // the program gets a request
}

// Put, Get, Accumulate, Fetch and Swap make an access one of a kind.
func (a Access) Put() Access        { a.verb = put; return a }
func (a Access) Get() Access        { a.verb = get; return a }
func (a Access) Accumulate() Access { a.verb = accumulate; return a }
func (a Access) Fetch() Access      { a.verb = fetch; return a }
func (a Access) Swap() Access       { a.verb = swap; return a }

// Requested says that the program waits for the access by a request.
func (a Access) Requested() Access { a.asks = true; return a }

// Operation is an access that fetches data which hasn't come yet.
type Operation struct {
	w      *Window
	rank   int
	handle engine.Handle
	into   Buffer
	data   []byte // what comes
	copied bool   // data isn't the program's memory
	asked  bool   // the program has a request for it

	over bool // guarded by Window.mu
	err  error
}

// taken says that the engine's answer isn't that of a message: another thread has taken that, by
// a request or by what ends an epoch. Answers have tags from 1 on.
func taken(s engine.Status, err error) bool { return err == nil && s.Tag == 0 }

// Handle is the engine's handle of what the operation waits for.
func (o *Operation) Handle() engine.Handle { return o.handle }

// End takes what came of the operation, by the engine's answer, and gives the program its data.
func (o *Operation) End(s engine.Status, err error) error {
	o.w.mu.Lock()
	defer o.w.mu.Unlock()
	for !o.over && taken(s, err) { // the thread that took it is about to come here
		o.w.came.Wait()
	}
	if o.over {
		return o.err
	}
	defer o.w.came.Broadcast()
	o.over = true
	switch {
	case err != nil:
		o.err = err
	case s.Bytes != len(o.data):
		o.err = wrong(ErrRange, "rank %d has refused it: see the error of the call that ends the epoch, or flushes", o.rank)
	case o.copied:
		o.into.unpack(o.data)
	}
	return o.err
}

// Do carries an access out, or starts it. The Operation is nil if the program's buffers are its
// own again.
func (w *Window) Do(a Access) (*Operation, error) {
	if err := w.mayAccess(a.Rank); err != nil {
		return nil, err
	}
	unit := int64(1)
	if !w.dynamic {
		unit = w.memory.Parts[a.Rank].Unit
	}
	if a.Disp > math.MaxInt64/unit || a.Disp < math.MinInt64/unit {
		return nil, wrong(ErrRange, "the displacement %d, of %d bytes each, is more than can be addressed", a.Disp, unit)
	}
	m := message{verb: a.verb, op: a.Op, kind: a.Kind, place: placeOf(a.Type, a.Count, a.Disp*unit)}
	if n, ok := m.bytes(); !ok {
		return nil, wrong(ErrRange, "%d elements are more than can be addressed", a.Count)
	} else if n == 0 {
		return nil, nil
	}
	if first, length := m.span(); !w.dynamic {
		if size := w.memory.Parts[a.Rank].Size; first < 0 || length < 0 || first > size-length {
			return nil, wrong(ErrRange, "at displacement %d: %s", a.Disp, outside(first, length, a.Rank, size))
		}
	}
	m.deferred = w.defers()
	if base, near := w.base(a.Rank); near && (m.deferred || !w.led) {
		return nil, w.here(&a, &m, base)
	} else if w.beside(&a, &m) {
		return nil, nil
	}
	return w.there(&a, &m)
}

// there sends an access to its target.
func (w *Window) there(a *Access, m *message) (*Operation, error) {
	if w.copies && m.verb.answers() && w.started() {
		return nil, w.notInOrder("nothing is fetched between MPI_Win_start and MPI_Win_complete", "use MPI_Win_fence")
	}
	switch m.verb {
	case put, accumulate, fetch:
		if m.verb != fetch || m.op != reduce.NoOp {
			m.data = a.Origin.packed()
		}
	case swap:
		m.data = append(append([]byte(nil), a.Origin.packed()...), a.With.packed()...)
	}
	var o *Operation
	if m.verb.answers() {
		var err error
		if o, err = w.expect(a, m); err != nil {
			return nil, err
		}
	}
	if err := w.send(a.Rank, m); err != nil {
		return nil, err
	}
	if w.copies || m.deferred {
		return o, nil // the target receives them when it comes to the end of the epoch
	}
	return o, w.throttle(a.Rank)
}

// expect posts the receive of what an access fetches.
func (w *Window) expect(a *Access, m *message) (*Operation, error) {
	o := &Operation{w: w, rank: a.Rank, into: a.Result, asked: a.asks}
	n, _ := m.bytes()
	if data, contiguous := a.Result.contiguous(); contiguous {
		o.data = data[:n]
	} else {
		o.data, o.copied = make([]byte, n), true
	}
	w.mu.Lock()
	m.answer = w.answerTag()
	w.mu.Unlock()
	from := w.answers
	if m.deferred {
		from = w.comm
	}
	r, err := from.Irecv(o.data, a.Rank, int(m.answer))
	if err != nil {
		return nil, err
	}
	o.handle = r.Handle()
	w.mu.Lock() // from now on other threads may wait for it
	w.to[a.Rank].reads = append(w.to[a.Rank].reads, o)
	w.native.SetBusy(true)
	w.mu.Unlock()
	return o, nil
}

// mostHeld bounds how many bytes are under way at a target: they are held here.
const mostHeld = 16 << 20

// throttle waits for the oldest sends to a target if they hold much memory.
func (w *Window) throttle(rank int) error {
	w.mu.Lock()
	var oldest []sent
	if to := &w.to[rank]; to.held > mostHeld {
		n := 0
		for to.held > mostHeld/2 {
			to.held -= to.sends[n].bytes
			n++
		}
		oldest = append(oldest, to.sends[:n]...)
		to.sends = append(to.sends[:0], to.sends[n:]...)
	}
	w.mu.Unlock()
	for _, s := range oldest {
		if _, err := s.Wait(); err != nil {
			return err
		}
	}
	return nil
}
