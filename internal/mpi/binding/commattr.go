package binding

import "unsafe"

// predefined are the attributes of the world. C may keep their addresses.
type predefined struct {
	tagUB, host, io, wtimeIsGlobal, appnum, universe, tolerant int32
}

// Keys of mpi-ext.h, which aren't in the standard's table: MPIX_FT and MPIX_SPARES.
const (
	KeyFaultTolerance = 900
	KeySpares         = 901
)

// maxTag is the largest tag.
const maxTag = 1<<31 - 1

// describeWorld sets the predefined attributes.
func (p *Process) describeWorld(ranks int) {
	p.values = &predefined{
		tagUB: maxTag,
		host:  ProcNull,  // no process is special
		io:    AnySource, // any rank can read and write
		// The clock is the host's, not the process's.
		wtimeIsGlobal: truth(oneHost(p.job.Hosts())),
		appnum:        int32(p.job.Program()),
		universe:      int32(max(ranks, p.job.Universe())),
		tolerant:      truth(p.job.Tolerant()),
	}
	p.pins.Pin(p.values)
	for n := range p.world.Load().comm.Spares() + 1 {
		p.spareCounts = append(p.spareCounts, int32(n))
	}
	p.pins.Pin(&p.spareCounts[0])
	p.pins.Pin(&p.codes.last)
}

func oneHost(hosts []int32) bool {
	for _, h := range hosts {
		if h != hosts[0] {
			return false
		}
	}
	return true
}

// predefinedAttribute points to the value of a predefined attribute. It is nil for other keys.
func (p *Process) predefinedAttribute(key int32) *int32 {
	switch key {
	case KeyTagUb:
		return &p.values.tagUB
	case KeyHost:
		return &p.values.host
	case KeyIo:
		return &p.values.io
	case KeyWtimeIsGlobal:
		return &p.values.wtimeIsGlobal
	case KeyAppnum:
		return &p.values.appnum
	case KeyUniverseSize:
		return &p.values.universe
	case KeyFaultTolerance:
		return &p.values.tolerant
	case KeyLastusedcode:
		return &p.codes.last
	}
	return nil
}

// CommCreateKeyval is MPI_Comm_create_keyval.
func (p *Process) CommCreateKeyval(commCopyAttrFn, commDeleteAttrFn uintptr, commKeyval *int32, extraState uintptr) Code {
	*commKeyval = p.keyvals.create(kindComm, commCopyAttrFn, commDeleteAttrFn, extraState)
	return Success
}

// CommFreeKeyval is MPI_Comm_free_keyval.
func (p *Process) CommFreeKeyval(commKeyval *int32) Code {
	return p.freeKeyval("MPI_Comm_free_keyval", kindComm, commKeyval)
}

func (p *Process) freeKeyval(function string, kind int, key *int32) Code {
	if !p.keyvals.free(kind, *key) {
		return p.fail(nil, function, ErrKeyval, "%d is no attribute key of the program for such objects", *key)
	}
	*key = KeyvalInvalid
	return Success
}

// CommSetAttr is MPI_Comm_set_attr.
func (p *Process) CommSetAttr(comm Comm, commKeyval int32, attributeVal uintptr) Code {
	return p.commSetAttr("MPI_Comm_set_attr", comm, commKeyval, attributeVal)
}

func (p *Process) commSetAttr(function string, comm Comm, number int32, value uintptr) Code {
	c := p.communicator(comm)
	if c == nil {
		return p.noComm(function, comm)
	}
	key := p.keyvals.find(kindComm, number)
	if key == nil {
		return p.noKey(c, function, number)
	}
	if code := p.setAttribute(&c.attributes, uintptr(comm), key, value); code != Success {
		return p.callbackFailed(c, function, "delete", code)
	}
	return Success
}

func (p *Process) noKey(c *communicator, function string, number int32) Code {
	if p.predefinedAttribute(number) != nil {
		return p.fail(c, function, ErrKeyval, "attribute %d is predefined and can't be changed", number)
	}
	return p.fail(c, function, ErrKeyval, "%d is no attribute key for such objects", number)
}

// callbackFailed is the error of a copy or delete function.
func (p *Process) callbackFailed(c *communicator, function, which string, code Code) Code {
	return p.fail(c, function, code, "the program's %s function returned %d", which, code)
}

// CommGetAttr is MPI_Comm_get_attr. Every communicator has the predefined attributes, because
// programs ask communicators of their own for the largest tag.
func (p *Process) CommGetAttr(comm Comm, commKeyval int32, attributeVal unsafe.Pointer, flag *int32) Code {
	return p.commGetAttr("MPI_Comm_get_attr", comm, commKeyval, attributeVal, flag)
}

func (p *Process) commGetAttr(function string, comm Comm, number int32, value unsafe.Pointer, flag *int32) Code {
	c := p.communicator(comm)
	if c == nil {
		return p.noComm(function, comm)
	}
	if number == KeySpares {
		*(*unsafe.Pointer)(value) = unsafe.Pointer(&p.spareCounts[c.comm.Spares()])
		*flag = 1
		return Success
	}
	if at := p.predefinedAttribute(number); at != nil {
		if at == &p.values.appnum && *at < 0 {
			*flag = 0 // the launcher hasn't set it
			return Success
		}
		*(*unsafe.Pointer)(value) = unsafe.Pointer(at)
		*flag = 1
		return Success
	}
	e, found := c.attributes.get(number)
	if !found && p.keyvals.find(kindComm, number) == nil {
		return p.noKey(c, function, number)
	}
	if *flag = truth(found); found {
		*(*uintptr)(value) = e.value
	}
	return Success
}

// CommDeleteAttr is MPI_Comm_delete_attr.
func (p *Process) CommDeleteAttr(comm Comm, commKeyval int32) Code {
	return p.commDeleteAttr("MPI_Comm_delete_attr", comm, commKeyval)
}

func (p *Process) commDeleteAttr(function string, comm Comm, number int32) Code {
	c := p.communicator(comm)
	if c == nil {
		return p.noComm(function, comm)
	}
	if _, found := c.attributes.get(number); !found {
		return p.noKey(c, function, number)
	}
	if code := p.deleteAttribute(&c.attributes, uintptr(comm), number); code != Success {
		return p.callbackFailed(c, function, "delete", code)
	}
	return Success
}

// KeyvalCreate is MPI_Keyval_create.
func (p *Process) KeyvalCreate(copyFn, deleteFn uintptr, keyval *int32, extraState uintptr) Code {
	return p.CommCreateKeyval(copyFn, deleteFn, keyval, extraState)
}

// KeyvalFree is MPI_Keyval_free.
func (p *Process) KeyvalFree(keyval *int32) Code {
	return p.freeKeyval("MPI_Keyval_free", kindComm, keyval)
}

// AttrPut is MPI_Attr_put.
func (p *Process) AttrPut(comm Comm, keyval int32, attributeVal uintptr) Code {
	return p.commSetAttr("MPI_Attr_put", comm, keyval, attributeVal)
}

// AttrGet is MPI_Attr_get.
func (p *Process) AttrGet(comm Comm, keyval int32, attributeVal unsafe.Pointer, flag *int32) Code {
	return p.commGetAttr("MPI_Attr_get", comm, keyval, attributeVal, flag)
}

// AttrDelete is MPI_Attr_delete.
func (p *Process) AttrDelete(comm Comm, keyval int32) Code {
	return p.commDeleteAttr("MPI_Attr_delete", comm, keyval)
}
