package binding

import (
	"unsafe"

	"banyan/internal/mpi/comm"
	"banyan/internal/runtime/engine"
)

// manner is how a collective is called: MPI_X waits for its end, MPI_Ix makes a
// request of it, and MPI_X_init one that can be started again and again.
type manner struct {
	function string
	request  *Request // nil: wait
	kept     bool
}

func blocking(function string) manner { return manner{function: function} }

func started(function string, r *Request) manner { return manner{function: function, request: r} }

func kept(function string, r *Request) manner {
	return manner{function: function, request: r, kept: true}
}

// collective is one call of a collective: its communicator, and its data as blocks
// of bytes for package comm. Contiguous data is the program's own memory; other
// data is packed into a buffer when the operation starts, and unpacked at its end.
//
// Its methods that take arguments check them; the first error counts, of which code
// is what the error handler made. It is a request's work.
type collective struct {
	manner
	p    *Process
	c    *communicator
	code Code

	out, in []data    // to pack before, to unpack after
	pooled  []*[]byte // buffers that blocks share
	blocks  [2][][]byte
	plan    *comm.Plan
	started comm.Operation
}

// collective begins a call. It returns nil, and the code, if there is no such
// communicator.
func (p *Process) collective(m manner, h Comm) (*collective, Code) {
	c := p.communicator(h)
	if c == nil {
		return nil, p.noComm(m.function, h)
	}
	k := c.idle.Swap(nil)
	if k == nil {
		k = new(collective)
	}
	k.manner, k.p, k.c, k.code = m, p, c, Success
	return k, Success
}

// good says that no argument was wrong so far.
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

// send is data to send.
func (k *collective) send(buf unsafe.Pointer, count int64, datatype Datatype) []byte {
	return k.message(buf, count, datatype, true, false)
}

// receive is data to receive.
func (k *collective) receive(buf unsafe.Pointer, count int64, datatype Datatype) []byte {
	return k.message(buf, count, datatype, false, true)
}

// update is data that is changed in place.
func (k *collective) update(buf unsafe.Pointer, count int64, datatype Datatype) []byte {
	return k.message(buf, count, datatype, true, true)
}

func (k *collective) message(buf unsafe.Pointer, count int64, datatype Datatype, out, in bool) []byte {
	if !k.good() {
		return nil
	}
	if b, ok := k.p.plain.bytes(buf, count, datatype); ok {
		return b
	}
	d, code := k.p.incoming(k.c, k.function, buf, count, datatype)
	if k.code = code; d.pooled == nil {
		return d.bytes
	}
	k.pooled = append(k.pooled, d.pooled)
	k.note(d, out, in)
	return d.bytes
}

// note remembers what is to be packed and unpacked.
func (k *collective) note(d data, out, in bool) {
	if out {
		k.out = append(k.out, d)
	}
	if in {
		k.in = append(k.in, d)
	}
}

type blocks = comm.Blocks

// part is one block of the program's data.
type part struct {
	buf      unsafe.Pointer
	count    int64
	datatype Datatype
}

// ways of the blocks that parts makes.
const (
	outwards = 1 << iota
	inwards
	copied // even if contiguous: the memory is changed meanwhile
)

// parts are n blocks of the program's data. which tells apart the two lists that a
// collective may have.
func (k *collective) parts(which, n, way int, at func(i int) part) blocks {
	list := k.blocks[which]
	if cap(list) < n || list == nil {
		list = make([][]byte, n)
	}
	list = list[:n]
	k.blocks[which] = list
	whole := int64(0) // of what has to be packed
	for i := range list {
		list[i] = nil
		if !k.good() {
			return blocks{Parts: list}
		}
		x := at(i)
		o, size, code := k.p.usable(k.c, k.function, x.buf, x.count, x.datatype)
		if k.code = code; size == 0 {
			continue
		}
		if first, contiguous := o.Contiguous(x.count); contiguous && way&copied == 0 {
			list[i] = unsafe.Slice((*byte)(unsafe.Add(x.buf, first)), size)
		} else {
			whole += size
		}
	}
	if whole == 0 {
		return blocks{Parts: list}
	}
	room := scratch.take(whole)
	k.pooled = append(k.pooled, room)
	free := *room
	for i := range list {
		if list[i] != nil {
			continue
		}
		x := at(i)
		d := data{typ: k.p.datatype(x.datatype), buf: x.buf, count: x.count}
		size, _ := d.typ.Bytes(x.count)
		if size == 0 {
			continue
		}
		d.bytes, free = free[:size:size], free[size:]
		list[i] = d.bytes
		d.pooled = room
		k.note(d, way&outwards != 0, way&inwards != 0)
	}
	return blocks{Parts: list}
}

// copyOf is data that is packed into a buffer even if it is contiguous, since the
// memory is changed meanwhile.
func (k *collective) copyOf(buf unsafe.Pointer, count int64, datatype Datatype) []byte {
	return k.parts(1, 1, outwards|copied, func(int) part { return part{buf, count, datatype} }).Of(0)
}

// times is a count for every rank.
func (k *collective) times(count int64) int64 {
	if count < 0 || count > maxData {
		return count // an error to come
	}
	return count * int64(k.size())
}

// block is this rank's part of data for all.
func (k *collective) block(all []byte) []byte {
	each := len(all) / k.size()
	return all[k.rank()*each : (k.rank()+1)*each]
}

// own is this rank's part of what all send: it sends it from where it receives it.
func (k *collective) own(recv []byte, buf unsafe.Pointer, count int64, datatype Datatype) []byte {
	if !k.good() {
		return nil
	}
	b := k.block(recv)
	k.packOwn(k.strided(buf, count, datatype)(k.rank()), b)
	return b
}

// ownPart is the same of separate blocks.
func (k *collective) ownPart(recv blocks, at func(i int) part) []byte {
	if !k.good() {
		return nil
	}
	b := recv.Of(k.rank())
	k.packOwn(at(k.rank()), b)
	return b
}

// packOwn has this rank's part packed before the start, unless it is its own message.
func (k *collective) packOwn(x part, block []byte) {
	o := k.p.datatype(x.datatype)
	if first, contiguous := o.Contiguous(x.count); len(block) == 0 || contiguous && unsafe.Add(x.buf, first) == unsafe.Pointer(&block[0]) {
		return
	}
	k.out = append(k.out, data{typ: o, buf: x.buf, count: x.count, bytes: block})
}

// end carries the plan out in the call's manner.
func (k *collective) end(plan *comm.Plan) Code {
	p := k.p
	k.plan = plan
	switch {
	case k.kept:
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

// abandon ends a call with an error of the machinery.
func (k *collective) abandon(err error) Code {
	c, p, function := k.c, k.p, k.function
	k.release()
	return p.failWith(c, function, err)
}

// begin starts a request that was kept.
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
	if k.kept {
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
	k.manner, k.c, k.plan, k.started = manner{}, nil, nil, comm.Operation{}
	c.idle.Store(k)
}

// giveBack is release for what a collective has of buffers and lists.
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

// strided are blocks of count elements that follow each other.
func (k *collective) strided(buf unsafe.Pointer, count int64, datatype Datatype) func(i int) part {
	extent := k.extent(datatype)
	return func(i int) part { return part{unsafe.Add(buf, int64(i)*count*extent), count, datatype} }
}

// placed are blocks of counts[i] elements, displs[i] extents away.
func (k *collective) placed(buf unsafe.Pointer, counts, displs Counts, datatype Datatype) func(i int) part {
	k.given(counts, displs)
	extent := k.extent(datatype)
	return func(i int) part { return part{unsafe.Add(buf, displs.At(i)*extent), counts.At(i), datatype} }
}

// typed are blocks of counts[i] elements of types[i], displs[i] bytes away.
func (k *collective) typed(buf unsafe.Pointer, counts, displs Counts, types *Datatype) func(i int) part {
	k.given(counts, displs)
	if types == nil {
		k.fail(ErrArg, "the array of datatypes is null")
	}
	return func(i int) part {
		datatype := *(*Datatype)(unsafe.Add(unsafe.Pointer(types), uintptr(i)*unsafe.Sizeof(*types)))
		return part{unsafe.Add(buf, displs.At(i)), counts.At(i), datatype}
	}
}

func (k *collective) given(counts, displs Counts) {
	if counts.IsNil() || displs.IsNil() {
		k.fail(ErrArg, "the array of counts or displacements is null")
	}
}

// extent is a type's, 0 if there is no such type: an error to come.
func (k *collective) extent(datatype Datatype) int64 {
	o := k.p.datatype(datatype)
	if o == nil {
		return 0
	}
	_, extent := o.Extent()
	return extent
}
