package oneworld

import (
	"fmt"
	"math/rand/v2"

	"banyan/internal/proto"
	"banyan/internal/proto/steward"
)

// FaultKind says what goes wrong.
type FaultKind uint8

// Kinds of faults.
const (
	KillProcess FaultKind = iota
	StopProcess           // until Until
	KillAgent             // its processes die with it
	StopAgent             // alone, until Until
	KillHost              // a power cut
	StopHost              // all of it, until Until
	LinkDown              // nothing goes from or to Host until Until
	Cut                   // nothing goes between Side and Against
	Reject                // a firewall between Side and Against answers with resets
	OneWay                // nothing goes from Side to Against
	Flap                  // as Cut, in turns of 700 ms
	Lossy                 // packets from and to Host are lost and sent again
	KillConsole           // another one is attached later
	KillSteward           // the agent that leads
	KillBoth              // the console and the steward
	DrainHost             // a host is to leave
	faultKinds
)

func (k FaultKind) String() string {
	return [...]string{"kill process", "stop process", "kill agent", "stop agent", "power cut", "stop host", "link down", "cut", "reject",
		"one-way loss", "flapping", "lossy", "kill console", "kill steward", "kill console and steward", "drain"}[k]
}

// Fault is something that goes wrong at a time. Until is proto.Never if it lasts.
type Fault struct {
	Kind          FaultKind
	At, Until     proto.Time
	Host          steward.Host
	Proc          proto.Proc
	Side, Against uint64 // hosts by bit
}

func (f Fault) String() string {
	s := fmt.Sprintf("%s %v", inSeconds(f.At), f.Kind)
	switch f.Kind {
	case KillProcess, StopProcess:
		s += fmt.Sprintf(" %d", f.Proc)
	case Cut, Reject, OneWay, Flap:
		s += fmt.Sprintf(" between %v and %v", hostsIn(f.Side), hostsIn(f.Against))
	case KillConsole, KillSteward, KillBoth:
	default:
		s += fmt.Sprintf(" of host %d", f.Host)
	}
	switch {
	case f.Kind == KillProcess || f.Kind == KillAgent || f.Kind == KillHost || f.Kind >= KillConsole:
	case f.Until == proto.Never:
		s += ", for good"
	default:
		s += " for " + inSeconds(f.Until-f.At)
	}
	return s
}

func inSeconds(t proto.Time) string { return fmt.Sprintf("%.3fs", float64(t)/float64(second)) }

func hostsIn(set uint64) (list []int) {
	for i := range 64 {
		if set>>i&1 == 1 {
			list = append(list, i)
		}
	}
	return list
}

// draw makes the faults of a run: some, the later ones often soon after the ones before.
func drawFaults(rng *rand.Rand, hosts, procs int, length proto.Time) []Fault {
	var all []Fault
	at := proto.Time(rng.Int64N(int64(length)))
	for range 1 + rng.IntN(5) {
		f := Fault{Kind: FaultKind(rng.IntN(int(faultKinds))), At: at, Host: steward.Host(rng.IntN(hosts)), Proc: proto.Proc(rng.IntN(procs))}
		spans := []proto.Time{300 * ms, 1200 * ms, 3 * second, 5 * second, 6 * second, 8 * second}
		f.Until = at + spans[rng.IntN(len(spans))] + proto.Time(rng.Int64N(int64(second)))
		everyone := uint64(1)<<hosts - 1
		for f.Side == 0 || f.Side == everyone {
			f.Side = rng.Uint64() & everyone
		}
		f.Against = everyone &^ f.Side
		if rng.IntN(3) == 0 { // one bad link, or a few
			for f.Against = 0; f.Against == 0; {
				f.Against = rng.Uint64() & everyone &^ f.Side
			}
		}
		if f.Kind >= LinkDown && f.Kind <= OneWay && f.Kind != OneWay && rng.IntN(5) == 0 {
			// For good only whole sides are cut off: a bad link between two hosts that both hold
			// leases lets the job wait for as long as it lasts (decision 49).
			f.Until, f.Against = proto.Never, everyone&^f.Side
		}
		all = append(all, f)
		if rng.IntN(3) == 0 {
			at += proto.Time(rng.Int64N(int64(length)))
		} else {
			at += proto.Time(rng.Int64N(int64(1500 * ms)))
		}
		at = min(at, 20*second)
	}
	return all
}

// strike makes a fault happen.
func (w *world) strike(f *Fault) {
	w.logf(nil, "fault: %v", *f)
	h := w.hosts[f.Host]
	switch f.Kind {
	case KillProcess, StopProcess:
		for _, r := range w.slots[f.Proc] {
			switch {
			case r.dead || r.host.dead:
			case f.Kind == KillProcess:
				r.host.ended(r, sigkill)
			default:
				r.actor.until = max(r.actor.until, f.Until)
				w.at(r.actor.until, func() { r.host.kernelDo(func() { r.actor.goOn(w.now) }) })
			}
		}
	case KillAgent:
		w.killAgent(h)
	case StopAgent:
		h.agentGo.until = max(h.agentGo.until, f.Until)
		w.at(h.agentGo.until, func() { h.kernelDo(func() { h.agentGo.goOn(w.now) }) })
	case KillHost:
		if h.dead {
			break
		}
		h.dead, h.lead = true, nil
		for _, r := range h.ranks {
			r.endedAt = w.now
		}
		h.ranks = nil
		if w.console.on == h {
			w.consoleLost()
		}
	case StopHost:
		h.actor.until = max(h.actor.until, f.Until)
		w.at(h.actor.until, func() { h.resume() })
	case KillConsole:
		w.consoleLost()
	case KillSteward, KillBoth:
		if f.Kind == KillBoth {
			w.consoleLost()
		}
		if h := w.steward(); h != nil {
			w.killAgent(h)
		}
	case DrainHost:
		if by := w.steward(); by != nil && h.agent != nil {
			by.agentDo(func() { by.call(func(now proto.Time, out *[]steward.Action) { by.agent.Drain(now, h.id, out) }) })
		}
	}
}

// steward is the host of the acting steward of the last term, nil if none acts.
func (w *world) steward() (last *host) {
	for _, h := range w.hosts {
		if h.lead != nil && (last == nil || h.lead.term > last.lead.term) {
			last = h
		}
	}
	return last
}

// killAgent kills an agent, and its processes die with it.
func (w *world) killAgent(h *host) {
	if h.agent == nil || h.dead || h.agentDead {
		return
	}
	h.killAll()
	h.agentDead = true
	h.lead = nil
	if w.console.on == h {
		w.consoleLost()
	}
}

// resume lets a stopped host go on. Its kernel looks at the lease before anything else.
func (h *host) resume() {
	if h.w.now < h.actor.until || h.dead {
		return
	}
	if h.clock() >= h.deadline && len(h.ranks) > 0 && h.w.bug != ForgottenLease {
		h.logf("the kernel kills: the lease is over")
		h.killAll()
	}
	h.actor.goOn(h.w.now)
}
