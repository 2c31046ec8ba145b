package binding

import (
	"errors"
	"strconv"
	"time"

	"banyan/internal/mpi/comm"
	"banyan/internal/runtime/connection"
)

// Connector is what a job does for dynamic processes: ports, names, connections and spawning. Its
// errors are *connection.Failure, unless they come from a Group.
type Connector interface {
	// AmongJobs is this process among those of several jobs.
	AmongJobs() connection.Member
	// CanConnect is an error if this job can't have connections.
	CanConnect() error
	Connect(g connection.Group, accepts bool, meet func() (connection.Line, error)) (*connection.Connection, error)
	OpenPort(address string) (string, error)
	ClosePort(name string) error
	// AcceptAt and CallAt wait for the other side, at most for limit if that isn't 0.
	AcceptAt(name string, limit time.Duration) (connection.Line, error)
	CallAt(name string, limit time.Duration) (connection.Line, error)
	// JoinOver meets the process at the other end of a socket. accepts says which side this
	// one is.
	JoinOver(fd int) (line connection.Line, accepts bool, err error)
	Publish(service, port string) error
	Withdraw(service string) error
	Look(service string) (port string, err error)
	// Spawn has programs started, and waits until they call. What becomes of them counts for the
	// job's exit code, unless disown is called.
	Spawn(programs []connection.Program) (line connection.Line, disown func(), err error)
	// Parent is the port at which the processes wait that have spawned this job; "": none
	// have.
	Parent() string
}

// connect makes an intercommunicator of a communicator and of another group, which meet finds.
// It is called at the root only. If it fails nobody waits for the other group, and all of this one
// get the error.
func (p *Process) connect(function string, c *communicator, root int32, accepts bool, meet func() (connection.Line, error), newcomm *Comm) Code {
	*newcomm = CommNull
	conn, err := p.job.Connect(comm.Side{Comm: c.comm, Root: int(root)}, accepts, meet)
	if err != nil {
		c.comm.Learn(err)
		return p.failWith(c, function, err)
	}
	made, err := p.linkUp(c, conn, accepts)
	if err != nil {
		return p.failWith(c, function, err)
	}
	return p.publishComm(function, c, made, newcomm)
}

// linkUp makes the intercommunicator of a connection.
func (p *Process) linkUp(parent *communicator, conn *connection.Connection, accepts bool) (*communicator, error) {
	if p.level == ThreadMultiple {
		conn.Engine.ManyThreads()
	} else {
		conn.Engine.OneThread()
	}
	inner, err := bothSides(conn, accepts)
	if err != nil {
		conn.Close()
		return nil, err
	}
	l := p.newLink(conn)
	c := p.newInter(parent, inner)
	c.link.release() // parent's
	c.link = l.retain()
	return c, nil
}

func bothSides(conn *connection.Connection, accepts bool) (*comm.Inter, error) {
	world, err := comm.World(conn.Engine)
	if err != nil {
		return nil, err
	}
	colour, other := 0, conn.First
	if !accepts {
		colour, other = 1, 0
	}
	side, err := world.Split(colour, 0)
	if err != nil {
		return nil, err
	}
	defer side.Free()
	return side.Connect(0, comm.Meeting{Peer: world, Leader: other})
}

// collectively checks the arguments that all processes of a group give.
func (p *Process) collectively(function string, h Comm, root int32, newcomm *Comm) (*communicator, Code) {
	c := p.communicator(h)
	switch {
	case c == nil:
		return nil, p.noComm(function, h)
	case c.inter != nil:
		return nil, p.isInter(c, function)
	case newcomm == nil:
		return nil, p.fail(c, function, ErrArg, "the argument for the new communicator is NULL")
	case root < 0 || int(root) >= c.comm.Size():
		return nil, p.fail(c, function, ErrRoot, "the root is %d, and the communicator has %d ranks", root, c.comm.Size())
	}
	if err := p.job.CanConnect(); err != nil { // the same at all
		*newcomm = CommNull
		return nil, p.failWith(c, function, err)
	}
	return c, Success
}

// CommAccept is MPI_Comm_accept. The hint timeout is how many seconds to wait at most.
func (p *Process) CommAccept(portName *byte, info Info, root int32, comm Comm, newcomm *Comm) Code {
	const function = "MPI_Comm_accept"
	c, code := p.collectively(function, comm, root, newcomm)
	if c == nil {
		return code
	}
	return p.connect(function, c, root, true, func() (connection.Line, error) {
		limit, err := p.patience(info)
		if err != nil {
			return nil, err
		}
		return p.job.AcceptAt(goString(portName), limit)
	}, newcomm)
}

// CommConnect is MPI_Comm_connect. The hint timeout is how many seconds to wait at most.
func (p *Process) CommConnect(portName *byte, info Info, root int32, comm Comm, newcomm *Comm) Code {
	const function = "MPI_Comm_connect"
	c, code := p.collectively(function, comm, root, newcomm)
	if c == nil {
		return code
	}
	return p.connect(function, c, root, false, func() (connection.Line, error) {
		limit, err := p.patience(info)
		if err != nil {
			return nil, err
		}
		return p.job.CallAt(goString(portName), limit)
	}, newcomm)
}

// patience is the hint timeout.
func (p *Process) patience(info Info) (time.Duration, error) {
	hints, valid := p.optional(info)
	if !valid {
		return 0, &connection.Failure{Kind: connection.BadArg, Text: "the info object is none, or has been freed"}
	}
	text, given := hints.get("timeout")
	if !given {
		return 0, nil
	}
	seconds, err := strconv.ParseFloat(text, 64)
	if err != nil || !(seconds > 0 && seconds < 1e9) {
		return 0, &connection.Failure{Kind: connection.BadValue, Text: "the hint timeout is " + strconv.Quote(text) + ": want a number of seconds"}
	}
	return time.Duration(seconds * float64(time.Second)), nil
}

// CommJoin is MPI_Comm_join.
func (p *Process) CommJoin(fd int32, intercomm *Comm) Code {
	const function = "MPI_Comm_join"
	c, code := p.collectively(function, CommSelf, 0, intercomm)
	if c == nil {
		return code
	}
	*intercomm = CommNull
	line, accepts, err := p.job.JoinOver(int(fd))
	if err != nil {
		return p.failWith(c, function, err)
	}
	return p.connect(function, c, 0, accepts, func() (connection.Line, error) { return line, nil }, intercomm)
}

// OpenPort is MPI_Open_port. The hint ip_address says where.
func (p *Process) OpenPort(info Info, portName *byte) Code {
	const function = "MPI_Open_port"
	if !p.live() {
		return p.outOfTime(function)
	}
	hints, valid := p.optional(info)
	switch {
	case !valid:
		return p.noInfo(function, info)
	case portName == nil:
		return p.fail(nil, function, ErrArg, "the argument for the port's name is NULL")
	}
	address, _ := hints.get("ip_address")
	name, err := p.job.OpenPort(address)
	if err != nil {
		return p.failWith(nil, function, err)
	}
	setString(portName, MaxPortName, name)
	return Success
}

// ClosePort is MPI_Close_port.
func (p *Process) ClosePort(portName *byte) Code {
	const function = "MPI_Close_port"
	if !p.live() {
		return p.outOfTime(function)
	}
	if err := p.job.ClosePort(goString(portName)); err != nil {
		return p.failWith(nil, function, err)
	}
	return Success
}

// PublishName is MPI_Publish_name.
func (p *Process) PublishName(serviceName *byte, info Info, portName *byte) Code {
	return p.name("MPI_Publish_name", serviceName, info, ErrService, func(service string) error {
		return p.job.Publish(service, goString(portName))
	})
}

// UnpublishName is MPI_Unpublish_name.
func (p *Process) UnpublishName(serviceName *byte, info Info, portName *byte) Code {
	return p.name("MPI_Unpublish_name", serviceName, info, ErrService, func(service string) error {
		return p.job.Withdraw(service)
	})
}

// LookupName is MPI_Lookup_name.
func (p *Process) LookupName(serviceName *byte, info Info, portName *byte) Code {
	return p.name("MPI_Lookup_name", serviceName, info, ErrName, func(service string) error {
		port, err := p.job.Look(service)
		if err == nil && portName != nil {
			setString(portName, MaxPortName, port)
		}
		return err
	})
}

// name does something with the name of a service. class is the error's if the name is wrong.
func (p *Process) name(function string, serviceName *byte, info Info, class Code, do func(service string) error) Code {
	if !p.live() {
		return p.outOfTime(function)
	}
	if _, valid := p.optional(info); !valid {
		return p.noInfo(function, info)
	}
	service := goString(serviceName)
	if service == "" {
		return p.fail(nil, function, class, "the name of the service is empty")
	}
	err := do(service)
	if f := (*connection.Failure)(nil); errors.As(err, &f) && f.Kind == connection.BadName {
		return p.fail(nil, function, class, "%q: %v", service, err)
	}
	if err != nil {
		return p.failWith(nil, function, err)
	}
	return Success
}

// classOfConnection is the class of an error about a connection.
func classOfConnection(err error) (Code, bool) {
	f := (*connection.Failure)(nil)
	if !errors.As(err, &f) {
		return Success, false
	}
	switch f.Kind {
	case connection.BadPort:
		return ErrPort, true
	case connection.NoSpawn:
		return ErrSpawn, true
	case connection.PeerDied:
		return ErrProcFailed, true
	case connection.BadJob:
		return ErrUnsupportedOperation, true
	case connection.BadValue:
		return ErrInfoValue, true
	case connection.BadName:
		return ErrName, true
	case connection.BadArg:
		return ErrArg, true
	}
	return ErrOther, true
}

// CommGetParent is MPI_Comm_get_parent.
func (p *Process) CommGetParent(parent *Comm) Code {
	if !p.live() {
		return p.outOfTime("MPI_Comm_get_parent")
	}
	if parent == nil {
		return p.fail(nil, "MPI_Comm_get_parent", ErrArg, "the argument for the communicator is NULL")
	}
	*parent = CommNull
	if c := p.parent.Load(); c != nil && p.comms.get(uintptr(c.handle)) == c {
		*parent = c.handle
	}
	return Success
}

// meetParent connects this job to the processes that have spawned it, if some have.
func (p *Process) meetParent() error {
	at := p.job.Parent()
	if at == "" {
		return nil
	}
	world := p.world.Load()
	conn, err := p.job.Connect(comm.Side{Comm: world.comm}, false, func() (connection.Line, error) { return p.job.CallAt(at, 0) })
	if err != nil {
		return err
	}
	c, err := p.linkUp(world, conn, false)
	if err != nil {
		return err
	}
	if p.adopt(c) == 0 {
		return errors.New("there are too many communicators")
	}
	c.name.Store(&parentName)
	p.parent.Store(c)
	return nil
}

var parentName = "MPI_COMM_PARENT"
