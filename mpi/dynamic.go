package mpi

import (
	"errors"
	"fmt"
	"time"

	"banyan/internal/job/join"
	"banyan/internal/mpi/comm"
	"banyan/internal/runtime/connection"
)

// Causes of an Error of spawning and connecting, for errors.Is. If the other side dies meanwhile
// it is ErrProcFailed.
var (
	ErrSpawn = errors.New("processes can't be started")
	ErrPort  = errors.New("nobody is met at the port")
	ErrName  = errors.New("the name of a service")
	ErrApart = errors.New("this job can't be connected to others")
)

// Connection joins two groups of processes, of two jobs or of one: those that have spawned others,
// and these; or those that have called Accept, and Connect. Its Comm has the ranks of both, first
// those of the side that spawned or accepted, each side in its order. With replicas, or
// --rollback, there are none: each replica would connect for itself.
//
// A death at either side is an ErrProcFailed in calls that need the dead rank. It ends no job but
// its own.
type Connection struct {
	*Comm
	conn    *connection.Connection
	accepts bool
}

// Own is the first rank of this side in the connection, and how many it has.
func (c *Connection) Own() (first, ranks int) { return c.side(c.accepts) }

// Other is that of the other side.
func (c *Connection) Other() (first, ranks int) { return c.side(!c.accepts) }

func (c *Connection) side(accepts bool) (first, ranks int) {
	if accepts {
		return 0, c.conn.First
	}
	return c.conn.First, c.Size() - c.conn.First
}

// Disconnect gives the connection up, with all communicators that were made of it. All its ranks
// call it, or Finalize, each when it has nothing under way there. It doesn't wait for the others.
func (c *Connection) Disconnect() { go c.conn.Finish() }

// Program is what Spawn starts.
type Program struct {
	Path  string // of the program; without a slash it is looked for as a shell does
	Args  []string
	Ranks int
	Dir   string   // in which it runs; empty: this process's
	Hosts []string // on which it may run; empty: all hosts of the job
}

// Spawn starts programs as a job of their own, and returns when all their processes have called
// Init, or Main. There, Parent is the connection to the ranks of c. All of these call Spawn. The
// programs are those that the root names. Either all processes start, or none.
func (c *Comm) Spawn(programs []Program, root int) (*Connection, error) {
	disown := func() {}
	conn, err := c.connect("Spawn", root, true, func(j *join.Job) (connection.Line, error) {
		var all []connection.Program
		for i, p := range programs {
			if p.Path == "" || p.Ranks < 1 {
				return nil, &connection.Failure{Kind: connection.NoSpawn, Text: fmt.Sprintf("program %d is %q with %d ranks", i, p.Path, p.Ranks)}
			}
			all = append(all, connection.Program{Command: p.Path, Args: p.Args, Ranks: p.Ranks, Dir: p.Dir, Hosts: p.Hosts})
		}
		if len(all) == 0 {
			return nil, &connection.Failure{Kind: connection.NoSpawn, Text: "there is no program"}
		}
		line, lose, err := j.Spawn(all)
		if err == nil {
			disown = lose
		}
		return line, err
	})
	if err != nil {
		disown()
	}
	return conn, err
}

// Parent is the connection to the ranks that have spawned this job; nil if none have. It is the
// same for all communicators.
func (c *Comm) Parent() *Connection { return c.own.parent }

// OpenPort opens a port, at which another group can connect to one that this rank leads. Who has
// its name, which is secret, may connect.
func (c *Comm) OpenPort() (name string, err error) {
	j, err := c.member("OpenPort")
	if err != nil {
		return "", err
	}
	name, err = j.OpenPort("")
	return name, c.failure("OpenPort", err)
}

// ClosePort closes a port that this rank has opened. Those that wait there get an error.
func (c *Comm) ClosePort(name string) error {
	j, err := c.member("ClosePort")
	if err != nil {
		return err
	}
	return c.failure("ClosePort", j.ClosePort(name))
}

// Accept waits at a port that the root has opened until another group connects. All ranks of c
// call it. The port and the limit are the root's; a limit of 0 is none.
func (c *Comm) Accept(port string, root int, limit time.Duration) (*Connection, error) {
	return c.connect("Accept", root, true, func(j *join.Job) (connection.Line, error) { return j.AcceptAt(port, limit) })
}

// Connect connects to a group that accepts at a port. All ranks of c call it. The port and the
// limit are the root's; a limit of 0 is none.
func (c *Comm) Connect(port string, root int, limit time.Duration) (*Connection, error) {
	return c.connect("Connect", root, false, func(j *join.Job) (connection.Line, error) { return j.CallAt(port, limit) })
}

// Publish publishes a port under the name of a service, for programs of this user on this host.
// It is there until Withdraw, or until this process ends.
func (c *Comm) Publish(service, port string) error {
	return c.named("Publish", service, func(j *join.Job) error { return j.Publish(service, port) })
}

// Withdraw is the end of Publish.
func (c *Comm) Withdraw(service string) error {
	return c.named("Withdraw", service, func(j *join.Job) error { return j.Withdraw(service) })
}

// Lookup is the port that a program has published under the name of a service.
func (c *Comm) Lookup(service string) (port string, err error) {
	err = c.named("Lookup", service, func(j *join.Job) error {
		port, err = j.Look(service)
		return err
	})
	return port, err
}

func (c *Comm) named(op, service string, do func(j *join.Job) error) error {
	j, err := c.member(op)
	if err == nil {
		if err = do(j); err != nil {
			err = fmt.Errorf("%q: %w", service, err)
		}
		err = c.failure(op, err)
	}
	return err
}

// member is this process in its job.
func (c *Comm) member(op string) (*join.Job, error) {
	if c.own.job == nil {
		return nil, &Error{Op: op, Rank: c.Rank(), Peer: comm.NoPeer, Err: fmt.Errorf("its ranks are goroutines (Local): %w", ErrApart)}
	}
	return c.own.job, nil
}

// connect makes a connection of the ranks of c to a group that the root meets.
func (c *Comm) connect(op string, root int, accepts bool, meet func(j *join.Job) (connection.Line, error)) (*Connection, error) {
	j, err := c.member(op)
	if err != nil {
		return nil, err
	}
	if root < 0 || root >= c.Size() {
		return nil, &Error{Op: op, Rank: c.Rank(), Peer: root, Err: ErrRank}
	}
	conn, err := j.Connect(comm.Side{Comm: c.c, Root: root}, accepts, func() (connection.Line, error) { return meet(j) })
	if err != nil {
		return nil, c.failure(op, err)
	}
	both, err := comm.World(conn.Engine)
	if err != nil {
		conn.Close()
		return nil, c.failure(op, err)
	}
	abort := func(code int, why string) {
		conn.Abort(code)
		j.Abort(code, why)
	}
	return &Connection{&Comm{c: both, own: &own{abort: abort, job: j, parent: c.own.parent}}, conn, accepts}, nil
}

// failure is an error of a connection as the program gets it.
func (c *Comm) failure(op string, err error) error {
	f := (*connection.Failure)(nil)
	if err == nil || !errors.As(err, &f) {
		return c.outcome(err)
	}
	switch f.Kind {
	case connection.NoSpawn:
		err = fmt.Errorf("%w: %w", ErrSpawn, err)
	case connection.BadPort:
		err = fmt.Errorf("%w: %w", ErrPort, err)
	case connection.BadName:
		err = fmt.Errorf("%w %w", ErrName, err)
	case connection.BadJob:
		err = fmt.Errorf("%w: %w", ErrApart, err)
	case connection.PeerDied:
		err = fmt.Errorf("%w: %w", ErrProcFailed, err)
	}
	return &Error{Op: op, Rank: c.Rank(), Peer: comm.NoPeer, Err: err}
}
