package succession

import (
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"banyan/internal/job/agent"
	"banyan/internal/job/agent/deadline"
	"banyan/internal/job/agent/remote"
	"banyan/internal/job/agent/wire"
	"banyan/internal/job/fleet"
	"banyan/internal/job/launcher"
	driver "banyan/internal/job/steward"
	"banyan/internal/proto"
	"banyan/internal/proto/steward"
)

const (
	// mostVoters is how many vote.
	mostVoters = 5
	// leastMachines is how many machines it takes, and leastWithFiles with a witness directory: see
	// the package documentation.
	leastMachines  = 3
	leastWithFiles = 2
	// openLimit bounds how long agents may take to open.
	openLimit = 5 * time.Second
	// finishLimit bounds how long the end of the job may take to be written.
	finishLimit = 2 * time.Second
)

// first is the first launcher's host, and party.
const first steward.Host = 0

// Owner is the part of a job's first launcher.
type Owner struct {
	fleet  *fleet.Fleet
	will   Will
	quit   func(why error)
	timer  *deadline.Timer
	driver *driver.Driver
	over   chan struct{} // closed when this party is over
	voters int
	first  *steward.Ledger
	files  *driver.Directory // nil: the witness isn't files
	note   func(text string)

	mu        sync.Mutex
	ports     map[steward.Host]wire.Ports
	remotes   map[steward.Host]*remote.Remote
	agents    []member
	leads     bool
	finishing bool
	finished  bool // all know that the job is over, or will
	number    uint64
	waiting   []byte                  // a state that is to be kept when this party leads
	kept      func()                  // of the state that is kept now
	parting   map[steward.Host]func() // hosts that are to leave, and what to call when they have
}

// NewOwner has a job outlive this process, if its hosts can vote: otherwise it returns nil. It
// changes the launcher's Config. If files isn't empty it is a directory on a file system that all
// machines share, which votes as a witness. quit is called when another launcher goes on, or this
// one must not: it ends this process at once. note is told what the user must know.
func NewOwner(f *fleet.Fleet, c *launcher.Config, will Will, files string, quit func(why error), note func(text string)) (owner *Owner, err error) {
	least := leastMachines
	if files != "" {
		least = leastWithFiles
	}
	if f.Machines() < least {
		return nil, nil
	}
	o := &Owner{fleet: f, will: will, quit: quit, note: note, over: make(chan struct{}), ports: make(map[steward.Host]wire.Ports), remotes: make(map[steward.Host]*remote.Remote), parting: make(map[steward.Host]func())}
	if files != "" {
		if o.files, err = driver.MakeDirectory(files, f.Key()); err != nil {
			return nil, fmt.Errorf("--witness-dir: %w", err)
		}
		defer func() {
			if err != nil {
				o.files.Remove()
			}
		}()
	}
	o.voters = min(mostVoters, f.Machines())
	all := f.Agents
	if w := f.Witness(); w != nil {
		all = append(slices.Clip(all), w)
	}
	next, names := first+1, make(map[steward.Host]string)
	for i, a := range all {
		m := member{Host: first, Number: inside}
		if r, far := a.(*remote.Remote); far {
			m = member{next, r.Number(), r.Instance()}
			o.remotes[next] = r
			if i < len(f.Agents) {
				names[next] = f.Names()[i]
			}
			next++
		}
		if i < len(f.Agents) {
			o.agents = append(o.agents, m)
		}
	}
	if o.timer, err = deadline.New(); err != nil {
		return nil, err
	}
	if err := o.open(); err != nil {
		return nil, err
	}
	l, err := driver.Listen(":0")
	if err != nil {
		return nil, err
	}
	o.ports[first] = wire.Ports{Agent: l.Addresses()}
	domains := f.Domains()
	hosts := []steward.HostEntry{{Host: first, Domain: domains.Here}}
	for h := first + 1; h < next; h++ {
		hosts = append(hosts, steward.HostEntry{Host: h, Domain: domains.Of(o.remotes[h])})
	}
	witness := steward.NoHost
	if o.files != nil {
		witness = next
	}
	o.first = steward.NewLedger(hosts, nil, witness, false, o.voters)
	for h, r := range o.remotes {
		r.Begin(o.charter(h))
	}
	d := driver.Config{
		Machine: machine(first, domains.Here, o.voters), First: o.first, Key: f.Key(), Addresses: agentPorts(o.ports), Party: o,
		Note: o.note,
	}
	if o.files != nil {
		d.Files = o.files
	}
	o.driver = driver.Start(d, l)
	c.Keep, c.Part = o.keep, o.part
	if c.Arrivals != nil {
		c.Arrivals = o.arrivals(c.Arrivals)
	}
	if o.files != nil {
		go o.awaitSigns(names)
	}
	slog.Debug("succession", "voters", o.first.Electorate.Voters)
	return o, nil
}

// agentPorts are where parties find each other.
func agentPorts(all map[steward.Host]wire.Ports) map[steward.Host][]string {
	addresses := make(map[steward.Host][]string)
	for h, d := range all {
		addresses[h] = d.Agent
	}
	return addresses
}

// open opens all agents to each other. One that doesn't answer takes part all the same: it is lost,
// or will be.
func (o *Owner) open() error {
	errs := make(chan error, len(o.remotes))
	for h, r := range o.remotes {
		go func() {
			d, err := r.Open()
			if err == nil {
				o.mu.Lock()
				o.ports[h] = d
				o.mu.Unlock()
			}
			errs <- err
		}()
	}
	limit := time.After(openLimit)
	for range o.remotes {
		select {
		case err := <-errs:
			if err != nil && !errors.Is(err, agent.ErrHostLost) {
				return fmt.Errorf("an agent can't be reached by others: %w", err)
			}
		case <-limit:
			return nil
		}
	}
	return nil
}

// charter is what an agent is told.
func (o *Owner) charter(h steward.Host) []byte {
	o.mu.Lock()
	defer o.mu.Unlock()
	return encode(charter{Self: h, Domain: o.fleet.Domains().Of(o.remotes[h]), Voters: o.voters, Ledger: o.first, Ports: maps.Clone(o.ports), Files: o.path(),
		Job: o.will.Info.Name, Error: o.will.Error, Batch: o.will.Batch})
}

// arrivals has hosts take part that are added.
func (o *Owner) arrivals(from <-chan launcher.Arrival) <-chan launcher.Arrival {
	return joining(from, o.over, func(a launcher.Arrival) func() { return opening(a, o.introduce) })
}

// introduce has a host take part whose agent has opened.
func (o *Owner) introduce(r *remote.Remote, ports wire.Ports) {
	o.mu.Lock()
	h := first + 1
	for o.remotes[h] != nil || h == o.first.Witness {
		h++
	}
	others := maps.Clone(o.remotes)
	o.remotes[h], o.ports[h] = r, ports
	o.agents = append(o.agents, member{h, r.Number(), r.Instance()})
	o.mu.Unlock()
	o.driver.Meet(h, ports.Agent)
	for _, other := range others {
		other.Meet(encode(additions{h: ports}))
	}
	r.Begin(o.charter(h))
}

// keep is launcher.Config's Keep.
func (o *Owner) keep(state []byte, kept func()) {
	o.mu.Lock()
	defer o.mu.Unlock()
	l := Legacy{State: state, Agents: slices.Clone(o.agents), Estate: o.fleet.Estate(), First: o.first, Voters: o.voters, Files: o.path(), Will: o.will}
	o.number++
	o.waiting, o.kept = encode(l), kept
	o.write()
}

// write has the driver keep what waits. The lock is held.
func (o *Owner) write() {
	if o.leads && o.waiting != nil {
		state, number := o.waiting, o.number
		o.waiting = nil
		go o.driver.Keep(state, number)
	}
}

// Finish ends the job: nobody goes on with it. It waits until that is certain, or for a while: then
// it returns false.
func (o *Owner) Finish(code int) (certain bool) {
	if o == nil {
		return true
	}
	o.mu.Lock()
	o.finishing = true
	o.mu.Unlock()
	o.driver.Finish(int32(code))
	select {
	case <-o.over:
		return true
	case <-time.After(finishLimit):
		return false
	}
}

// Close ends this party, after Finish. If the job is over its directory is removed.
func (o *Owner) Close() {
	if o == nil {
		return
	}
	o.driver.Close()
	o.mu.Lock()
	finished := o.finished
	o.mu.Unlock()
	if finished {
		removeFiles(o.files)
	}
}

// Errors with which an Owner quits.
var (
	// ErrAnother says that another launcher goes on with the job.
	ErrAnother = errors.New("an agent on another host goes on with the job, because this launcher was out of reach")
	errAlone   = errors.New("most of the job's hosts couldn't be reached for as long as the lease: another host goes on with the job, if it can")
)

// Extend implements driver.Party.
func (o *Owner) Extend(until proto.Time) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.finishing {
		o.timer.Set(until) // it can't fail: the timer is there
	}
}

// Kill implements driver.Party: this process's processes end with it.
func (o *Owner) Kill() {
	if !o.ends() {
		o.quit(errAlone)
	}
}

func (o *Owner) ends() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.finishing
}

// Lead implements driver.Party.
func (o *Owner) Lead(uint64, *steward.Ledger) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.leads = true
	o.write()
	for h := range o.parting {
		go o.driver.Drain(h)
	}
}

// StepDown implements driver.Party.
func (o *Owner) StepDown() {
	if !o.ends() {
		o.quit(ErrAnother)
	}
}

// Kept implements driver.Party.
func (o *Owner) Kept(number uint64) {
	o.mu.Lock()
	kept := o.kept
	if number != o.number {
		kept = nil
	}
	o.mu.Unlock()
	if kept != nil {
		go kept()
	}
}

// HostLost implements driver.Party.
func (o *Owner) HostLost(h steward.Host) {
	o.mu.Lock()
	r := o.remotes[h]
	o.mu.Unlock()
	if r != nil {
		go r.Lose(leaseOver)
	}
}

// leaseOver is why a host is lost that has no lease any more.
const leaseOver = "its agent had no lease from the others for so long that it is over"

// Follow implements driver.Party.
func (o *Owner) Follow(uint64, steward.Host) {}

// Over implements driver.Party.
func (o *Owner) Over(how steward.Outcome) {
	if how.Reason == steward.NoMajority {
		o.quit(errors.New("the hosts of the job can't reach each other"))
	}
	// The kernel would end this process with the lease.
	o.mu.Lock()
	o.finishing, o.finished = true, how.Reason == steward.Finished
	o.timer.Set(deadline.Now() + proto.Time(time.Hour)*24*365)
	o.mu.Unlock()
	close(o.over)
}

var _ driver.Party = (*Owner)(nil)
