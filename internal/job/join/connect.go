package join

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"banyan/internal/job/env"
	"banyan/internal/job/port"
	"banyan/internal/proto"
	"banyan/internal/runtime/connection"
	"banyan/internal/runtime/engine"
	"banyan/internal/runtime/transport/mesh"
)

// dynamic is what a process has to do with processes that aren't in its job: ports, names that it
// has published, connections, and what it has spawned.
type dynamic struct {
	mu        sync.Mutex
	ports     map[string]*port.Port
	published map[string]string // services → ports
	names     *port.Names
	all       []*connection.Connection
	id        string // names the job
	spawning  map[uint64]*spawning
	spawned   uint64 // the number of the last one
	waits     []string
}

// waiting notes what a thread of the program waits for, until it calls done.
func (d *dynamic) waiting(what string) (done func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.waits = append(d.waits, what)
	return func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.waits = slices.Delete(d.waits, slices.Index(d.waits, what), slices.Index(d.waits, what)+1)
	}
}

// explain says what the program waits for, in the job or elsewhere.
func (j *Job) explain() string {
	d := &j.dynamic
	d.mu.Lock()
	all, waits := d.all, slices.Clone(d.waits)
	d.mu.Unlock()
	switch {
	case len(waits) > 0:
		return waits[0]
	case j.Engine.Waits():
		return j.Engine.Explain()
	}
	for _, c := range all {
		if c.Engine.Waits() {
			return c.Engine.Explain() + fmt.Sprintf(" (of a connection, in which ranks count from 0 at those that accepted: this is rank %d of %d)", c.Rank(), len(c.Members))
		}
	}
	return j.Engine.Explain()
}

// parent is where the port of those is that have spawned this process's job; "": nobody has.
var parent = sync.OnceValue(func() string {
	at := os.Getenv(env.Parent)
	os.Unsetenv(env.Parent) // programs that this one starts aren't children
	return at
})

// Parent is the port at which the processes wait that have spawned this job; "" if none have.
func (j *Job) Parent() string { return parent() }

// CanConnect is an error if this job can't have connections.
func (j *Job) CanConnect() error {
	why := ""
	switch {
	case j.layout.Replicated():
		why = "its ranks have replicas, and each replica would connect, or spawn, for itself"
	case j.snapshots != nil:
		why = "it goes back to snapshots (--rollback), and what it is connected to doesn't"
	default:
		return nil
	}
	return &connection.Failure{Kind: connection.BadJob, Text: "this job can't have connections to other processes: " + why}
}

// identity names this job to others.
func (d *dynamic) identity(secret []byte) string {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.id == "" {
		if len(secret) == 0 { // a job of one
			secret = make([]byte, 32)
			rand.Read(secret)
		}
		sum := sha256.Sum256(append([]byte("banyan job "), secret...))
		d.id = hex.EncodeToString(sum[:16])
	}
	return d.id
}

// AmongJobs is this process among those of several jobs.
func (j *Job) AmongJobs() connection.Member {
	return connection.Member{Job: j.dynamic.identity(j.secret), Rank: j.layout.Rank(j.self)}
}

// oneHost says whether all processes of the job are on this host, as far as is known.
func (j *Job) oneHost() bool { return j.layout.Procs() == 1 || j.hosts != nil && sameHost(j.hosts) }

// farAddress is where processes of other hosts reach this one; the loopback address if none can.
func farAddress() (string, error) {
	address, err := listenAddress([]int32{0, 1})
	if err != nil {
		return "127.0.0.1", nil
	}
	return address, nil
}

// connectionConfig is how this process connects.
func (j *Job) connectionConfig() connection.Config {
	return connection.Config{
		Self: j.AmongJobs(), Ranks: j.layout.Ranks(), OneHost: j.oneHost(),
		Address: func(near bool) (string, error) {
			if near {
				return "127.0.0.1", nil
			}
			return farAddress()
		},
		Media: j.media, Sealing: j.sealing, Period: j.period, Timeout: j.timeout,
		Settle: func(timeout time.Duration) time.Duration { return settleFactor * timeout },
		Reach:  func(timeout time.Duration) time.Duration { return max(reachFactor*timeout, leastReach) },
		Crowd: func(here int) (int, error) {
			h := processHosts{procs: here}
			return h.crowd()
		},
		Starved: func(self proto.Proc, own mesh.Card, hosts []int32, resolve func(proto.Proc) (mesh.Card, error)) func(proto.Proc) bool {
			return newNeighbours(own, processHosts{self: self, procs: len(hosts), hosts: hosts}, resolve).starved
		},
		Engine: engine.Config{Where: j.options.Where, Threads: j.options.Threads},
		Memory: buffersMemory(), TypeName: j.options.TypeName,
		Aborted: func(code int) { j.Abort(code, "a process that this job is connected to has aborted") },
		Logger:  j.log,
	}
}

// Connect makes a connection; see connection.Make.
func (j *Job) Connect(g connection.Group, accepts bool, meet func() (connection.Line, error)) (*connection.Connection, error) {
	if err := j.CanConnect(); err != nil {
		return nil, err
	}
	c, err := connection.Make(j.connectionConfig(), g, accepts, meet)
	if err != nil {
		return nil, err
	}
	d := &j.dynamic
	d.mu.Lock()
	living := []*connection.Connection{c} // a new slice: others read the old one
	for _, x := range d.all {
		if !x.Ended() {
			living = append(living, x)
		}
	}
	d.all = living
	d.mu.Unlock()
	return c, nil
}

// deathElsewhere passes on that a process of this job has died.
func (j *Job) deathElsewhere(p proto.Proc) {
	d := &j.dynamic
	d.mu.Lock()
	all := d.all
	d.mu.Unlock()
	for _, c := range all {
		c.Evidence(connection.Member{Job: j.AmongJobs().Job, Rank: j.layout.Rank(p)})
	}
}

// OpenPort opens a port. address is where; "": at an address of this host.
func (j *Job) OpenPort(address string) (string, error) {
	if err := j.CanConnect(); err != nil {
		return "", err
	}
	if address == "" {
		address, _ = farAddress()
	}
	p, err := port.Open(address)
	if err != nil {
		return "", &connection.Failure{Kind: connection.NoSystem, Text: err.Error()}
	}
	d := &j.dynamic
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.ports == nil {
		d.ports = make(map[string]*port.Port)
	}
	d.ports[p.Name()] = p
	return p.Name(), nil
}

func (d *dynamic) port(name string) (*port.Port, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if p := d.ports[name]; p != nil {
		return p, nil
	}
	return nil, &connection.Failure{Kind: connection.BadPort, Text: "this process has no open port " + port.Shown(name)}
}

// ClosePort closes a port of this process. Those that wait there are told.
func (j *Job) ClosePort(name string) error {
	p, err := j.dynamic.port(name)
	if err != nil {
		return err
	}
	j.dynamic.mu.Lock()
	delete(j.dynamic.ports, name)
	j.dynamic.mu.Unlock()
	p.Close()
	return nil
}

// AcceptAt waits at a port of this process until another group comes. A limit of 0 is none.
func (j *Job) AcceptAt(name string, limit time.Duration) (connection.Line, error) {
	p, err := j.dynamic.port(name)
	if err != nil {
		return nil, err
	}
	defer j.dynamic.waiting("waits in MPI_Comm_accept for processes that connect")()
	line, err := p.Accept(limit)
	if err != nil {
		return nil, portFailure(err)
	}
	return line, nil
}

// CallAt calls at a port, and waits until it is accepted there.
func (j *Job) CallAt(name string, limit time.Duration) (connection.Line, error) {
	defer j.dynamic.waiting("waits in MPI_Comm_connect for processes that accept")()
	line, err := port.Call(name, limit)
	if err != nil {
		return nil, portFailure(err)
	}
	return line, nil
}

// portFailure says what an error of package port means.
func portFailure(err error) error {
	f := &connection.Failure{Text: err.Error()}
	switch {
	case errors.As(err, new(*port.NameError)), errors.Is(err, port.ErrClosed), errors.Is(err, port.ErrLate):
		f.Kind = connection.BadPort
	case errors.Is(err, port.ErrEnded):
		f.Kind = connection.PeerDied
	}
	return f
}

// leaveConnections leaves all connections, when their other processes do, and gives up ports and
// names.
func (j *Job) leaveConnections() {
	d := &j.dynamic
	d.mu.Lock()
	all, ports, published := d.all, d.ports, d.published
	d.all, d.ports, d.published = nil, nil, nil
	d.mu.Unlock()
	for service := range published {
		_ = d.names.Withdraw(service) // the program may have had another process do so
	}
	for _, p := range ports {
		p.Close()
	}
	var leaving sync.WaitGroup
	for _, c := range all {
		leaving.Go(func() { c.Finish() })
	}
	leaving.Wait()
}

// Publish publishes a port under the name of a service.
func (j *Job) Publish(service, at string) error {
	return j.named(func(n *port.Names) error {
		err := n.Publish(service, at)
		if err == nil {
			d := &j.dynamic
			d.mu.Lock()
			if d.published == nil {
				d.published = make(map[string]string)
			}
			d.published[service] = at
			d.mu.Unlock()
		}
		return err
	})
}

// Withdraw ends that.
func (j *Job) Withdraw(service string) error {
	return j.named(func(n *port.Names) error {
		d := &j.dynamic
		d.mu.Lock()
		delete(d.published, service)
		d.mu.Unlock()
		return n.Withdraw(service)
	})
}

// Look gives the port of a service.
func (j *Job) Look(service string) (at string, err error) {
	err = j.named(func(n *port.Names) error {
		at, err = n.Look(service)
		return err
	})
	return at, err
}

// named does something with the names, and says what an error means.
func (j *Job) named(f func(n *port.Names) error) error {
	d := &j.dynamic
	d.mu.Lock()
	var err error
	if d.names == nil {
		d.names, err = port.OpenNames(os.Getenv(env.Names))
	}
	n := d.names
	d.mu.Unlock()
	if err == nil {
		err = f(n)
	}
	switch {
	case err == nil:
		return nil
	case errors.Is(err, port.ErrNoName), errors.Is(err, port.ErrNameTaken):
		return &connection.Failure{Kind: connection.BadName, Text: err.Error()}
	}
	return &connection.Failure{Kind: connection.NoSystem, Text: err.Error()}
}
