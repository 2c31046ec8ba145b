package binding

import (
	"sync"
	"unsafe"

	"banyan/internal/mpi/comm"
	"banyan/internal/mpi/file"
	"banyan/internal/runtime/engine"
)

// access is which of the functions that read or write a file the program called.
type access struct {
	function string
	write    bool
	place    place
	together bool // collective
	shape    shape
}

// place is where an access begins.
type place uint8

const (
	explicit   place = iota // at an offset
	individual              // at this rank's pointer
	shared                  // at the shared pointer; together: one rank behind another
)

// shape is how an access ends.
type shape uint8

const (
	waits  shape = iota // with the call
	starts              // with a request
	begins              // with another call
)

// fileAccess is an access under way. It is also its request's work.
type fileAccess struct {
	p *Process
	f *openFile
	access
	d       data // the program's side
	form    *datarep
	pooled  *[]byte // holds the file's side, unless that is the program's memory
	inner   file.Access
	out     file.Outcome
	started comm.Operation
}

// split is the split collective of a file, if there is one.
type split struct {
	mu   sync.Mutex
	open *fileAccess
}

// active is the function that has begun a split collective; "" if there is none.
func (s *split) active() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open == nil {
		return ""
	}
	return s.open.function
}

// arguments are those of an access.
type arguments struct {
	fh       File
	offset   int64
	buf      unsafe.Pointer
	count    int64
	datatype Datatype
	status   *Status
	request  *Request
}

// access reads or writes.
func (p *Process) access(how access, a arguments) Code {
	f := p.file(a.fh)
	if f == nil {
		return p.noFile(how.function, a.fh)
	}
	if how.shape == begins {
		f.split.mu.Lock()
		defer f.split.mu.Unlock()
		if f.split.open != nil {
			return p.fail(&f.communicator, how.function, ErrOther, "%s hasn't been ended", f.split.open.function)
		}
	}
	x := &fileAccess{p: p, f: f, access: how, form: f.seen.form}
	x.inner = file.Access{Write: how.write, View: f.seen.view}
	if code := x.prepare(a); code != Success {
		x.release()
		if how.together { // the others wait for this rank
			x.inner.Data = nil
			x.plan().Run()
		}
		return code
	}
	if how.shape == waits {
		return x.run(a.status)
	}
	o, err := x.plan().Start()
	if err != nil {
		x.release()
		return p.failWith(&f.communicator, how.function, err)
	}
	x.started = o
	if how.shape == begins {
		f.split.open = x
		return Success
	}
	return p.startRequest(&f.communicator, how.function, o.Handle(), x, a.request)
}

// prepare checks the arguments, and makes the file's side of the data ready.
func (x *fileAccess) prepare(a arguments) Code {
	p, f := x.p, x.f
	c, function := &f.communicator, x.function
	switch {
	case f.amode&ModeSequential != 0 && x.place != shared:
		return p.sequential(f, function)
	case x.write && f.amode&ModeRdonly != 0:
		return p.fail(c, function, ErrReadOnly, "the file was opened with MPI_MODE_RDONLY")
	case !x.write && f.amode&ModeWronly != 0:
		return p.fail(c, function, ErrAccess, "the file was opened with MPI_MODE_WRONLY")
	case x.place == explicit && a.offset < 0:
		return p.fail(c, function, ErrArg, "the offset is %d", a.offset)
	}
	o, size, code := p.usable(c, function, a.buf, a.count, a.datatype)
	if code != Success {
		return code
	}
	x.d = data{typ: o, buf: a.buf, count: a.count}
	if size > 0 {
		if code := x.fileSide(size); code != Success {
			return code
		}
	}
	etype, n := f.seen.view.Etype(), int64(len(x.inner.Data))
	if n%etype != 0 {
		return p.fail(c, function, ErrArg, "%d elements of %s have %d bytes in the file, which are no whole number of etypes of %d", a.count, o.title(), n, etype)
	}
	at, err := a.offset, error(nil)
	switch {
	case x.place == individual:
		at, err = f.file.Advance(n / etype)
	case x.place == shared && !x.together:
		at, err = f.file.AdvanceShared(n / etype)
	}
	if err == nil && !(x.place == shared && x.together) {
		x.inner.Skip, err = f.seen.view.Bytes(at)
	}
	if err != nil {
		return p.failWith(c, function, err)
	}
	return Success
}

// fileSide makes the memory of the data as it lies in the file: the program's own, if that is the
// same.
func (x *fileAccess) fileSide(size int64) Code {
	p, c := x.p, &x.f.communicator
	if first, contiguous := x.d.typ.Contiguous(x.d.count); contiguous && !x.form.converts() {
		x.inner.Data = unsafe.Slice((*byte)(unsafe.Add(x.d.buf, first)), size)
		return Success
	}
	n, ok, err := p.fileBytes(x.form, x.d.typ.Type, x.d.count)
	switch {
	case err != nil:
		return p.failWith(c, x.function, err)
	case !ok || n > maxData:
		return p.fail(c, x.function, ErrCount, "%d elements of %s are more than can be addressed", x.d.count, x.d.typ.title())
	case n == 0:
		return Success
	}
	x.pooled = scratch.take(n)
	x.inner.Data = (*x.pooled)[:n]
	if x.write {
		if err := p.toFile(x.form, &x.d, x.inner.Data); err != nil {
			return p.failWith(c, x.function, err)
		}
	}
	return Success
}

// plan is the access as a plan.
func (x *fileAccess) plan() *comm.Plan {
	switch {
	case x.together && x.place == shared:
		return x.f.file.Ordered(&x.inner, &x.out)
	case x.together:
		return x.f.file.Collective(&x.inner, &x.out)
	}
	return x.f.file.Alone(x.p.self.Load().comm, &x.inner, &x.out)
}

// run carries the access out, within the call.
func (x *fileAccess) run(status *Status) Code {
	if !x.together && !x.p.copies() {
		x.out = x.f.file.Independent(&x.inner)
	} else if err := x.plan().Run(); err != nil {
		x.release()
		return x.p.failWith(&x.f.communicator, x.function, err)
	}
	return x.end(status)
}

// end ends an access that has been carried out.
func (x *fileAccess) end(status *Status) Code {
	n, err := x.conclude()
	x.release()
	status.set(AnySource, AnyTag, n)
	if err != nil {
		return x.p.failWith(&x.f.communicator, x.function, err)
	}
	return Success
}

// conclude gives the program its data, and returns how many bytes of a message that is.
func (x *fileAccess) conclude() (int64, error) {
	if x.out.Err != nil || x.d.typ == nil {
		return 0, x.out.Err
	}
	n, all := x.out.N, int64(len(x.inner.Data))
	switch {
	case n == 0:
		return 0, nil
	case x.pooled == nil:
		return n, nil
	case x.write && n == all:
		size, _ := x.d.typ.Bytes(x.d.count)
		return size, nil
	case x.write:
		return 0, nil
	}
	return x.p.fromFile(x.form, &x.d, x.inner.Data, n)
}

// finish implements work.
func (x *fileAccess) finish(r *request, _ engine.Status, err error) error {
	if err != nil {
		return x.started.Outcome(err)
	}
	r.bytes, err = x.conclude()
	return err
}

// free implements work.
func (x *fileAccess) free() error {
	x.release()
	return nil
}

func (x *fileAccess) release() {
	if x.pooled != nil {
		scratch.give(x.pooled)
		x.pooled, x.inner.Data = nil, nil
	}
}

// endSplit ends a split collective that begun has begun.
func (p *Process) endSplit(function, begun string, fh File, buf unsafe.Pointer, status *Status) Code {
	f := p.file(fh)
	if f == nil {
		return p.noFile(function, fh)
	}
	f.split.mu.Lock()
	x := f.split.open
	if x == nil || x.function != begun {
		f.split.mu.Unlock()
		if x == nil {
			return p.fail(&f.communicator, function, ErrOther, "%s hasn't been called", begun)
		}
		return p.fail(&f.communicator, function, ErrOther, "%s has been called, not %s", x.function, begun)
	}
	f.split.open = nil
	f.split.mu.Unlock()
	if err := x.started.Wait(); err != nil {
		x.release()
		return p.failWith(&f.communicator, function, err)
	}
	x.function = function
	return x.end(status)
}
