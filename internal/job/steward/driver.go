package steward

import (
	"context"
	"maps"
	"sync"
	"time"

	"banyan/internal/job/agent/deadline"
	"banyan/internal/job/agent/secure"
	"banyan/internal/proto"
	"banyan/internal/proto/steward"
)

// Party is what a Driver acts for. Its methods are called on the Driver's goroutine, one at a time;
// they must not wait, and must not call the Driver's methods.
type Party interface {
	// Extend lets the processes act until a time, by CLOCK_BOOTTIME. They must be dead then, also
	// if this process is stopped.
	Extend(until proto.Time)
	// Kill says that the lease is over. All processes must be dead at the time that Extend was told
	// last.
	Kill()
	// Lead says that this party is the acting steward of a term, and with which ledger.
	Lead(term uint64, l *steward.Ledger)
	// StepDown says that it isn't any more. What it asked to be kept may be lost.
	StepDown()
	// Kept says that the state with a number, and those before, can't be lost any more.
	Kept(number uint64)
	// HostLost says that a host's processes are dead. Only the acting steward is told.
	HostLost(h steward.Host)
	// HostLeft says that a drained host has left: the others decide without it. Only the acting
	// steward is told.
	HostLeft(h steward.Host)
	// Follow says that a party leads a term: commands of earlier terms don't count any more. It may
	// not act yet, and its term may be over already.
	Follow(term uint64, leader steward.Host)
	// Over says that this party is over.
	Over(o steward.Outcome)
}

// Config describes a party. All of it must be set but Addresses, which may lack those to which
// nothing can be said.
type Config struct {
	Machine   steward.Config // its times are nanoseconds
	First     *steward.Ledger
	Key       secure.Key
	Addresses map[steward.Host][]string // where each party may be, as HOST:PORT
	Party     Party
	// Holds, if given, says whether this host has something that others may need. As long as it
	// does a drained host doesn't leave. It must not wait.
	Holds func() bool
	// Files, if given, are the ledger's witness.
	Files Files
	// Note, if given, is told once what is wrong with Files, on a goroutine of its own.
	Note func(text string)
}

// Driver is a party at work.
type Driver struct {
	cfg     Config
	machine *steward.Agent
	calls   chan func(now proto.Time, out *[]steward.Action)
	ctx     context.Context
	stop    context.CancelFunc
	all     sync.WaitGroup
	peers   map[steward.Host]*peer // the loop's, as all that follows
	term    uint64                 // that Party.Follow was told
	files   *files                 // nil: there are none
}

// Start begins. l takes the other parties' connections.
func Start(c Config, l *Listener) *Driver {
	d := &Driver{cfg: c, calls: make(chan func(proto.Time, *[]steward.Action), 64), peers: make(map[steward.Host]*peer)}
	d.ctx, d.stop = context.WithCancel(context.Background())
	d.cfg.Addresses = maps.Clone(c.Addresses)
	d.machine = steward.New(deadline.Now(), c.Machine, c.First)
	if c.First.Witness != steward.NoHost && c.Files != nil {
		d.files = newFiles(d)
	}
	d.all.Go(d.loop)
	d.all.Go(func() { l.serve(d.ctx, c.Key, c.Machine.Self, d.heard) })
	d.call(d.machine.Open)
	return d
}

// Close ends the party without a word to others.
func (d *Driver) Close() {
	d.stop()
	d.all.Wait()
}

// Keep has the acting steward write a state. Party.Kept tells when it is durable. Another party
// ignores it.
func (d *Driver) Keep(state []byte, number uint64) {
	d.call(func(now proto.Time, out *[]steward.Action) { d.machine.Keep(now, state, number, out) })
}

// Finish has the acting steward end the job.
func (d *Driver) Finish(code int32) {
	d.call(func(now proto.Time, out *[]steward.Action) { d.machine.Finish(now, code, out) })
}

// Drain has the acting steward let a host leave: it votes no more, and Party.HostLeft tells when it
// has left. Another party ignores it.
func (d *Driver) Drain(h steward.Host) {
	d.call(func(now proto.Time, out *[]steward.Action) { d.machine.Drain(now, h, out) })
}

// Meet tells where a party is that wasn't known when this one began.
func (d *Driver) Meet(h steward.Host, addresses []string) {
	d.call(func(proto.Time, *[]steward.Action) { d.cfg.Addresses[h] = addresses })
}

// heard takes a message.
func (d *Driver) heard(m *steward.Message) {
	d.call(func(now proto.Time, out *[]steward.Action) { d.machine.Receive(now, m, out) })
}

// call has the loop call the machine.
func (d *Driver) call(f func(now proto.Time, out *[]steward.Action)) {
	select {
	case d.calls <- f:
	case <-d.ctx.Done():
	}
}

// loop is the goroutine that owns the machine.
func (d *Driver) loop() {
	for {
		var due <-chan time.Time
		if at := d.machine.Deadline(); at != proto.Never {
			due = time.After(time.Duration(max(0, at-deadline.Now())))
		}
		step := d.machine.Tick
		select {
		case <-d.ctx.Done():
			return
		case step = <-d.calls:
		case <-due:
		}
		if d.cfg.Holds != nil {
			d.machine.Hold(d.cfg.Holds())
		}
		var out []steward.Action
		step(deadline.Now(), &out)
		for len(out) > 0 {
			a := out[0]
			out = out[1:]
			d.carryOut(a, &out)
		}
		if term, leader := d.machine.Term(); term > d.term {
			d.term = term
			d.cfg.Party.Follow(term, leader)
		}
	}
}

// carryOut carries out an action. What the machine says to itself comes back to it.
func (d *Driver) carryOut(a steward.Action, out *[]steward.Action) {
	p := d.cfg.Party
	switch a.Kind {
	case steward.Send:
		switch {
		case a.To == d.cfg.Machine.Self:
			d.machine.Receive(deadline.Now(), a.Message, out)
		case d.files != nil && a.To == d.cfg.First.Witness:
			d.files.ask(a.Message)
		default:
			d.send(a.To, a.Message)
		}
	case steward.Extend:
		p.Extend(a.Until)
	case steward.Kill:
		p.Kill()
	case steward.Lead:
		term, _ := d.machine.Term()
		p.Lead(max(term, a.Ledger.ID.Term), a.Ledger)
	case steward.StepDown:
		p.StepDown()
	case steward.Kept:
		p.Kept(a.Number)
	case steward.HostLost:
		p.HostLost(a.Host)
	case steward.HostLeft:
		p.HostLeft(a.Host)
	case steward.Over:
		p.Over(a.Outcome)
	}
}
