package binding

import (
	"sync"
	"unsafe"

	"banyan/internal/mpi/comm"
	"banyan/internal/runtime/engine"
)

// partitioned is a partitioned message (MPI-5.0, chapter 4): a persistent request of which threads
// make parts ready, or ask which have arrived. Package comm has how the parts travel.
type partitioned struct {
	message *comm.Partitioned // nil: the peer is MPI_PROC_NULL
	sends   bool
	parts   int32
	size    int64 // of a part, in bytes
	peer    int32
	tag     int32

	mu   sync.Mutex
	done []uint64 // a bit for each part: it is ready, or in the program's buffer, in this round
}

// PsendInit is MPI_Psend_init.
func (p *Process) PsendInit(buf unsafe.Pointer, partitions int32, count int64, datatype Datatype, dest, tag int32, comm Comm, info Info, request *Request) Code {
	const function = "MPI_Psend_init"
	c := p.communicator(comm)
	if c == nil {
		return p.noComm(function, comm)
	}
	if code := p.checkSend(c, function, dest, tag); code != Success {
		return code
	}
	return p.initParts(c, function, true, buf, partitions, count, datatype, dest, tag, info, request)
}

// PrecvInit is MPI_Precv_init. It has no wildcards.
func (p *Process) PrecvInit(buf unsafe.Pointer, partitions int32, count int64, datatype Datatype, source, tag int32, comm Comm, info Info, request *Request) Code {
	const function = "MPI_Precv_init"
	c := p.communicator(comm)
	if c == nil {
		return p.noComm(function, comm)
	}
	switch {
	case source == AnySource:
		return p.fail(c, function, ErrRank, "the source is MPI_ANY_SOURCE, and must be one rank")
	case tag == AnyTag:
		return p.fail(c, function, ErrTag, "the tag is MPI_ANY_TAG, and must be one tag")
	}
	if code := p.checkReceive(c, function, source, tag); code != Success {
		return code
	}
	return p.initParts(c, function, false, buf, partitions, count, datatype, source, tag, info, request)
}

func (p *Process) initParts(c *communicator, function string, sends bool, buf unsafe.Pointer, parts int32, count int64, datatype Datatype, peer, tag int32, info Info, to *Request) Code {
	_, valid := p.optional(info)
	switch {
	case to == nil:
		return p.fail(c, function, ErrArg, "the argument for the request is NULL")
	case parts < 0:
		return p.fail(c, function, ErrArg, "the number of partitions is %d", parts)
	case !valid:
		return p.fail(c, function, ErrInfo, "%#x is no info object, or has been freed", uintptr(info))
	case count > maxData:
		return p.fail(c, function, ErrCount, "%d elements in a partition are more than can be addressed", count)
	}
	all := count
	if count > 0 && parts != 1 { // a negative count is told as it is
		all *= int64(parts)
	}
	if count > 0 && parts > 0 && all/int64(parts) != count {
		return p.fail(c, function, ErrCount, "%d partitions of %d elements are more than can be addressed", parts, count)
	}
	d, code := p.incoming(c, function, buf, all, datatype)
	if code != Success {
		return code
	}
	w := &partitioned{sends: sends, parts: parts, peer: peer, tag: tag, done: make([]uint64, (int(parts)+63)/64)}
	if parts > 0 {
		w.size = int64(len(d.bytes)) / int64(parts)
	}
	r := p.newRequest(c, function)
	r.d, r.work = d, w
	if peer == ProcNull {
		r.begin = func(r *request) Code {
			w.restart()
			return p.beginNothing(ProcNull)(r)
		}
		return p.publish(r, to)
	}
	var err error
	if sends {
		w.message, err = c.comm.SendParts(d.bytes, int(parts), int(peer), int(tag))
	} else {
		w.message, err = c.comm.ReceiveParts(d.bytes, int(peer), int(tag))
	}
	if err != nil {
		p.recycle(r)
		return p.failWith(c, function, err)
	}
	r.begin = func(r *request) Code {
		if code := p.unrevoked(r.c, r.function); code != Success {
			return code
		}
		w.restart()
		r.follow(w.message.Start())
		return Success
	}
	return p.publish(r, to)
}

// restart begins a round.
func (w *partitioned) restart() {
	w.mu.Lock()
	clear(w.done)
	w.mu.Unlock()
}

// mark marks a part, and tells whether it was marked before. The caller holds the lock.
func (w *partitioned) mark(part int32) bool {
	word, bit := &w.done[part/64], uint64(1)<<(part%64)
	was := *word&bit != 0
	*word |= bit
	return was
}

// finish implements work.
func (w *partitioned) finish(r *request, _ engine.Status, err error) error {
	if w.message == nil {
		return nil
	}
	if err = w.message.Outcome(err); w.sends {
		return err
	}
	r.source, r.tag = w.peer, w.tag
	if err == nil {
		r.bytes = int64(w.message.Bytes())
		w.mu.Lock()
		defer w.mu.Unlock()
		for part := range w.parts {
			w.unpack(&r.d, part, r.bytes)
		}
	}
	return err
}

// unpack puts a part that has arrived where the program wants it, once. The message has total
// bytes, which may be less than there is room for. The caller holds the lock.
func (w *partitioned) unpack(d *data, part int32, total int64) {
	if d.pooled == nil || w.mark(part) {
		return
	}
	at := int64(part) * w.size
	if end := min(at+w.size, total); end > at {
		d.typ.Unpack(d.bytes[at:end], d.buf, d.count, at)
	}
}

// free implements work.
func (w *partitioned) free() error {
	if w.message != nil {
		w.message.Free()
	}
	return nil
}

// Pready is MPI_Pready.
func (p *Process) Pready(partition int32, request Request) Code {
	return p.ready("MPI_Pready", request, partition, partition)
}

// PreadyRange is MPI_Pready_range.
func (p *Process) PreadyRange(partitionLow, partitionHigh int32, request Request) Code {
	return p.ready("MPI_Pready_range", request, partitionLow, partitionHigh)
}

// PreadyList is MPI_Pready_list.
func (p *Process) PreadyList(length int32, arrayOfPartitions *int32, request Request) Code {
	const function = "MPI_Pready_list"
	if length < 0 {
		return p.fail(nil, function, ErrArg, "the length of the list is %d", length)
	}
	for _, part := range array(arrayOfPartitions, length) {
		if code := p.ready(function, request, part, part); code != Success {
			return code
		}
	}
	return Success
}

// ready makes the parts from low to high ready.
func (p *Process) ready(function string, h Request, low, high int32) Code {
	if !p.live() {
		return p.outOfTime(function)
	}
	r := p.request(h)
	if r == nil {
		return p.noRequest(function, h)
	}
	w, is := r.work.(*partitioned)
	switch {
	case !is || !w.sends:
		return p.fail(r.c, function, ErrRequest, "the request %#x, of %s, is no partitioned send", uintptr(h), r.function)
	case r.state == inactive:
		return p.fail(r.c, function, ErrRequest, "the request %#x hasn't been started", uintptr(h))
	case low > high:
		return p.fail(r.c, function, ErrArg, "the partitions from %d to %d are none", low, high)
	case low < 0:
		return p.fail(r.c, function, ErrArg, "there is no partition %d", low)
	case high >= w.parts:
		return p.fail(r.c, function, ErrArg, "there is no partition %d, only %d from 0 on", high, w.parts)
	}
	for part := low; part <= high; part++ {
		w.mu.Lock()
		was := w.mark(part)
		w.mu.Unlock()
		if was {
			return p.fail(r.c, function, ErrArg, "partition %d is ready already", part)
		}
		if at := int64(part) * w.size; r.d.pooled != nil {
			r.d.typ.Pack(r.d.bytes[at:at+w.size], r.d.buf, r.d.count, at)
		}
		if w.message != nil {
			w.message.Ready(int(part))
		}
	}
	return Success
}

// Parrived is MPI_Parrived. All partitions of a request that is null or inactive have arrived.
func (p *Process) Parrived(request Request, partition int32, flag *int32) Code {
	const function = "MPI_Parrived"
	switch {
	case !p.live():
		return p.outOfTime(function)
	case flag == nil:
		return p.fail(nil, function, ErrArg, "the argument for the flag is NULL")
	}
	*flag = 1
	if request == RequestNull {
		return Success
	}
	r := p.request(request)
	if r == nil {
		return p.noRequest(function, request)
	}
	w, is := r.work.(*partitioned)
	switch {
	case !is || w.sends:
		return p.fail(r.c, function, ErrRequest, "the request %#x, of %s, is no partitioned receive", uintptr(request), r.function)
	case partition < 0 || partition >= w.parts:
		return p.fail(r.c, function, ErrArg, "there is no partition %d, only %d from 0 on", partition, w.parts)
	case w.message == nil:
		return Success
	}
	// Whether the request is active, another thread may change. So that is asked below, where in
	// leader order one replica decides it.
	at := int64(partition) * w.size
	arrived, err := w.message.Arrived(int(at), int(at+w.size))
	if err != nil {
		return p.failWith(r.c, function, err)
	}
	if arrived {
		w.mu.Lock()
		w.unpack(&r.d, partition, int64(w.message.Bytes()))
		w.mu.Unlock()
	}
	*flag = truth(arrived)
	return Success
}
