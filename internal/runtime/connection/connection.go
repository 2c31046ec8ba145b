// Package connection makes processes that aren't in one job, or not yet, part of one more job for
// themselves: MPI's dynamic processes (MPI-5.0, chapter 11.8 to 11.10). A connection has the
// members of two groups as its ranks, those of the group that accepts first. It has a transport,
// a secret and an engine of its own, so no machine has to learn that there are processes outside
// of a job.
//
// # The steps
//
//  1. The leaders of the two groups have found each other (package internal/job/port, or a spawn)
//     and have a [Line]. They exchange how many there are, and how connections are to be made;
//     the acceptor makes the secret. Each tells its group.
//  2. Every process listens, and its leader gathers all business cards. The leaders exchange
//     these, and each tells its group. If a process has failed, both groups hear why, and end
//     with an error.
//  3. Every process starts its engine.
//
// # Deaths
//
// Nobody outside hears of the deaths of both sides, so processes learn of them as under a
// launcher that tells of none: the kernel tells those on the same host, broken connections are a
// hint, and silence counts after δ. Each side's launcher tells its own processes of deaths there,
// and they pass that on ([Connection.Evidence]). An operation that needs a dead process ends with
// an error. A process that is cut off from the others ends the connection for itself, not its
// job.
//
// # Limits
//
// No replicas. A connection has an engine, so a progress thread and heartbeats, of its own.
package connection

import (
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"banyan/internal/layout"
	"banyan/internal/proto"
	"banyan/internal/proto/detector"
	"banyan/internal/runtime/engine"
	"banyan/internal/runtime/process"
	"banyan/internal/runtime/seal"
	"banyan/internal/runtime/transport/mesh"
)

// Line is what the leaders talk on.
type Line interface {
	// Exchange says something and hears the other side, within a limit.
	Exchange(own, theirs any, limit time.Duration) error
	Close() error
}

// Group is the processes of one side: each of them calls Make with its own.
type Group interface {
	// Rank and Size are this process's and the group's, Leader says whether this process
	// leads.
	Rank() int
	Size() int
	Leads() bool
	// Spread gives all what the leader says: one value. It returns that at each.
	Spread(own []byte) ([]byte, error)
	// Collect gives the leader what each says, in the order of ranks.
	Collect(own []byte) ([][]byte, error)
}

// Member says who a process is: which rank of which job.
type Member struct {
	Job  string     `json:"job"`
	Rank proto.Rank `json:"rank"`
}

// Config is how this process connects.
type Config struct {
	Self            Member
	Ranks           int                             // how many this process's job has
	OneHost         bool                            // all processes of the group are on this host
	Address         func(near bool) (string, error) // at which others reach this process; near: from this host
	Media           mesh.Media
	Sealing         seal.Policy
	Period, Timeout time.Duration // the detector's η and δ
	Settle, Reach   func(timeout time.Duration) time.Duration
	// Crowd is how many processes share each core of this host, of so many that are on it.
	Crowd func(here int) (int, error)
	// Starved makes what tells whether a process wants to run, of the cards of all.
	Starved func(self proto.Proc, own mesh.Card, hosts []int32, resolve func(proto.Proc) (mesh.Card, error)) func(proto.Proc) bool
	// Engine is the engine's configuration, but for its Process.
	Engine engine.Config
	// Memory is for messages, and TypeName names types; see process.Config.
	Memory   []byte
	TypeName func(t uint32) string
	// Aborted is called when another process of the connection aborts it.
	Aborted func(code int)
	Logger  *slog.Logger
}

// Connection is this process's part of a connection.
type Connection struct {
	Engine  *engine.Engine
	Members []Member // of both sides, by rank; those that accept first
	Hosts   []int32  // of each
	First   int      // how many accept
	config  Config
	mesh    *mesh.Transport
	done    chan struct{}
	ended   sync.Once
	broken  atomic.Bool
}

// Failure is why a connection couldn't be made. Both sides get the same.
type Failure struct {
	Kind string `json:"kind"` // one of the kinds, or empty
	Text string `json:"text"`
	// Lost is the rank whose death is why, in the group that it was in. The other group hears
	// PeerDied.
	Lost *process.LostError `json:"lost,omitempty"`
}

// The kinds of failures. Others have none.
const (
	BadPort  = "port"   // there is no such port
	NoSpawn  = "spawn"  // processes can't be started
	PeerDied = "death"  // the other side has ended
	BadJob   = "job"    // this job can't do it
	BadValue = "value"  // a wrong value of a hint
	BadName  = "name"   // nothing is published so
	BadArg   = "arg"    // another argument is wrong
	NoSystem = "system" // the system refuses
)

func (f *Failure) Error() string { return f.Text }

// Unwrap gives the *process.LostError, if a death in the own group is why.
func (f *Failure) Unwrap() error {
	if f.Lost == nil {
		return nil
	}
	return f.Lost
}

// exchangeLimit bounds how long a leader takes for one step: its group may be busy elsewhere.
const exchangeLimit = 2 * time.Minute

const version = 1

// terms are what the leaders tell each other first.
type terms struct {
	Version int           `json:"version"`
	Size    int           `json:"size"`
	Media   mesh.Media    `json:"media"`
	Sealing seal.Policy   `json:"sealing"`
	Period  time.Duration `json:"period"`
	Timeout time.Duration `json:"timeout"`
	Host    string        `json:"host"`   // the kernel that runs all of them; empty: several do
	Secret  []byte        `json:"secret"` // the acceptor's counts
}

const (
	secretSize = 32
	// maxProcs bounds a connection, as a launcher bounds a job.
	maxProcs = 1 << 16
	maxPause = time.Hour
	// leastPeriod is the shortest period of heartbeats that a launcher takes.
	leastPeriod = time.Millisecond
)

// check refuses terms that make no sense.
func (t *terms) check() error {
	switch {
	case t.Version != version:
		return fmt.Errorf("the other side speaks version %d of connections, this one %d: both must run the same Banyan", t.Version, version)
	case t.Size < 1 || t.Size > maxProcs:
		return fmt.Errorf("the other side says that it is %d processes", t.Size)
	case t.Media > mesh.SharedMemory || t.Sealing > seal.TCP:
		return fmt.Errorf("the other side wants media %d and encryption %d", t.Media, t.Sealing)
	case t.Period < leastPeriod || t.Timeout < t.Period || t.Timeout > maxPause:
		return fmt.Errorf("the other side's heartbeats have period %v and timeout %v", t.Period, t.Timeout)
	case len(t.Secret) != secretSize:
		return errors.New("the other side's secret isn't complete")
	}
	return nil
}

// agreed is what follows from the terms of both.
func agreed(acceptor, caller *terms) terms {
	t := terms{Version: version, Size: acceptor.Size + caller.Size, Sealing: max(acceptor.Sealing, caller.Sealing),
		Period: acceptor.Period, Timeout: acceptor.Timeout, Secret: acceptor.Secret, Media: acceptor.Media}
	if caller.Timeout > t.Timeout {
		t.Period, t.Timeout = caller.Period, caller.Timeout
	}
	if acceptor.Host == caller.Host {
		t.Host = acceptor.Host
	}
	switch {
	case acceptor.Media == mesh.Sockets || caller.Media == mesh.Sockets:
		t.Media = mesh.Sockets
	case acceptor.Media != caller.Media:
		t.Media = mesh.Any
	}
	return t
}

// Make makes a connection: every process of both groups calls it. meet gives the leader its line;
// it isn't called elsewhere. accepts says on which side this is.
func Make(cfg Config, g Group, accepts bool, meet func() (Line, error)) (*Connection, error) {
	m := &making{Config: cfg, group: g, accepts: accepts, table: newTable()}
	defer m.close()
	if err := m.agree(meet); err != nil {
		return nil, err
	}
	cards, err := m.exchangeCards()
	if err != nil {
		return nil, err
	}
	return m.start(cards)
}

// making is a connection that is being made.
type making struct {
	Config
	group   Group
	accepts bool
	line    Line
	terms   terms
	first   int // how many accept
	self    proto.Proc
	mesh    *mesh.Transport
	table   *table
}

func (m *making) close() {
	if m.line != nil {
		m.line.Close()
	}
	if m.mesh != nil {
		close(m.table.failed)
		m.mesh.Close()
	}
}

// agree has the leaders find each other and agree, and tells all.
func (m *making) agree(meet func() (Line, error)) error {
	var said settled
	if m.group.Leads() {
		said = m.settle(meet)
	}
	if err := spread(m.group, &said); err != nil {
		return err
	}
	if said.Failure != nil {
		return said.Failure
	}
	m.terms, m.first = said.Terms, said.First
	m.self = proto.Proc(m.group.Rank())
	if !m.accepts {
		m.self += proto.Proc(m.first)
	}
	return nil
}

// settled is what a leader tells its group.
type settled struct {
	Terms   terms    `json:"terms"`
	First   int      `json:"first"`
	Failure *Failure `json:"failure,omitempty"`
}

func (m *making) settle(meet func() (Line, error)) (s settled) {
	line, err := meet()
	if err != nil {
		return settled{Failure: failure(err)}
	}
	m.line = line
	own := terms{version, m.group.Size(), m.Media, m.Sealing, m.Period, m.Timeout, "", make([]byte, secretSize)}
	if m.OneHost {
		own.Host = mesh.ThisHost()
	}
	rand.Read(own.Secret)
	var theirs terms
	if err := line.Exchange(&own, &theirs, exchangeLimit); err != nil {
		return settled{Failure: away(err)}
	}
	if err := theirs.check(); err != nil {
		return settled{Failure: failure(err)}
	}
	if n := own.Size + theirs.Size; n > maxProcs { // the same at both
		return settled{Failure: &Failure{Text: fmt.Sprintf("a connection of %d processes is too large: it may have %d", n, maxProcs)}}
	}
	if m.accepts {
		return settled{agreed(&own, &theirs), own.Size, nil}
	}
	return settled{agreed(&theirs, &own), theirs.Size, nil}
}

// failure is an error as both sides and all processes are told.
func failure(err error) *Failure {
	if f := (*Failure)(nil); errors.As(err, &f) {
		return f
	}
	f := &Failure{Text: err.Error()}
	errors.As(err, &f.Lost)
	return f
}

// elsewhere is the failure as the other group is told.
func (f *Failure) elsewhere() *Failure {
	if f == nil || f.Lost == nil {
		return f
	}
	return &Failure{Kind: PeerDied, Text: f.Text}
}

// away is failure for an error of the line: the other side has ended, or doesn't answer.
func away(err error) *Failure {
	f := failure(err)
	if f.Kind == "" {
		f = &Failure{Kind: PeerDied, Text: f.Text}
	}
	return f
}

// start starts the engine.
func (m *making) start(cards []card) (*Connection, error) {
	c := &Connection{First: m.first, config: m.Config, mesh: m.mesh, done: make(chan struct{})}
	parsed := make([]mesh.Card, len(cards))
	numbers := map[string]int32{}
	here := 0
	for i, x := range cards {
		parsed[i], _ = mesh.ParseCard(x.Card) // exchangeCards has looked
		host, known := numbers[parsed[i].Host]
		if !known {
			host = int32(len(numbers))
			numbers[parsed[i].Host] = host
		}
		c.Hosts = append(c.Hosts, host)
		c.Members = append(c.Members, x.Member)
		if parsed[i].Host == m.mesh.Card().Host {
			here++
		}
	}
	m.table.set(parsed)
	cfg := m.Config.Engine
	cfg.Process = process.Config{
		Self: m.self, Layout: layout.Uniform(len(cards), 1), Period: proto.Time(m.terms.Period), Timeout: proto.Time(m.terms.Timeout),
		Hosts: c.Hosts, SharedMemory: m.terms.Media != mesh.Sockets, Memory: m.Memory, TypeName: m.TypeName,
	}
	crowd, err := m.Crowd(here)
	if err != nil {
		return nil, err
	}
	cfg.Crowd = crowd
	cfg.Starved = m.Starved(m.self, m.mesh.Card(), c.Hosts, m.table.resolve)
	c.Engine = engine.New(cfg, m.mesh)
	m.mesh = nil // the engine's
	go c.watch()
	return c, nil
}

// watch acts on what the engine says.
func (c *Connection) watch() {
	for {
		select {
		case <-c.done:
			return
		case e := <-c.Engine.Events():
			c.handle(e)
		}
	}
}

func (c *Connection) handle(e engine.Event) {
	switch e.Kind {
	case engine.Died:
		c.config.Logger.Debug("a process of a connection died", "self", c.self(), "proc", int(e.Report.Proc), "cause", e.Report.Cause)
		if e.Report.Cause == detector.CauseSilence {
			go c.mesh.Tell(e.Report.Proc)
		}
	case engine.Fenced, engine.Apart, engine.Minority:
		c.config.Logger.Debug("a connection is cut", "self", c.self(), "kind", int(e.Kind))
		if !c.broken.Swap(true) {
			go c.Engine.Close() // who waits gets an error
		}
	case engine.Aborted:
		c.config.Aborted(e.Code)
	}
}

// Rank is this process's rank in the connection.
func (c *Connection) Rank() int { return c.self() }

func (c *Connection) self() int {
	p, _ := c.Engine.Self()
	return int(p)
}

// Broken says that this process was cut off from the others.
func (c *Connection) Broken() bool { return c.broken.Load() }

// Evidence says that a process of a job has certainly died.
func (c *Connection) Evidence(m Member) {
	for p, x := range c.Members {
		if x == m {
			c.Engine.Evidence(proto.Proc(p), 0)
		}
	}
}

// Ended says that this process has left the connection.
func (c *Connection) Ended() bool {
	select {
	case <-c.done:
		return true
	default:
		return false
	}
}

// Abort has the others abort.
func (c *Connection) Abort(code int) { c.Engine.Abort(code) }

// Finish leaves the connection, when all its processes do. It may be called again.
func (c *Connection) Finish() (err error) {
	c.ended.Do(func() {
		err = c.Engine.Finish()
		close(c.done)
	})
	return err
}

// Close ends the connection without a word: the others hold this process for dead.
func (c *Connection) Close() {
	c.ended.Do(func() {
		c.Engine.Close()
		close(c.done)
	})
}

// Program is one of those that a process spawns.
type Program struct {
	Command string
	Args    []string
	Ranks   int
	Dir     string   // to start in; empty: the spawner's
	Path    string   // directories to look for the program in, with colons between
	Hosts   []string // on which it may run; nil: on any
}
