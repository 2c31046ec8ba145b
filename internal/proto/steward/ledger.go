package steward

import (
	"slices"

	"banyan/internal/proto"
)

// HostState is what the ledger says of a host.
type HostState uint8

// States of a host.
const (
	Up       HostState = iota // its agent may hold a lease
	Draining                  // nothing is started on it, and it votes only as Elect says
	Lost                      // its incarnation has no lease any more: its processes are dead
	Left                      // it was drained
)

// HostEntry is a host in the ledger.
type HostEntry struct {
	Host        Host
	Incarnation proto.Incarnation // of its agent: how often it has lost its lease
	State       HostState
	Domain      int32 // hosts that may fail together have the same
	Console     bool  // it is the machine of the console, without processes
	Leaves      bool  // it was told to leave, and stays told so in its next incarnations
}

// PlaceState is how far a process is.
type PlaceState uint8

// States of a process.
const (
	Starting PlaceState = iota // its host may have been told to start it
	Running
	Ended
)

// LostWithHost is how a process ended whose host was lost.
const LostWithHost int32 = -1

// Place is where a process runs, or how it ended.
type Place struct {
	Proc            proto.Proc
	Incarnation     proto.Incarnation // of the process
	Host            Host
	HostIncarnation proto.Incarnation
	State           PlaceState
	How             int32 // Ended: the status of wait(2), or LostWithHost
}

// same says whether two places are about one process.
func (p Place) same(q Place) bool { return p.Proc == q.Proc && p.Incarnation == q.Incarnation }

// Reason says why a job, or an agent, is over.
type Reason uint8

// Reasons.
const (
	NotOver     Reason = iota
	Finished           // the steward's driver said so
	ConsoleLost        // the console's machine was lost, and the job was to end with it
	Drained            // this host was drained
	NoMajority         // this agent had no lease for Config.GiveUp, or nobody led for twice as long
)

func (r Reason) String() string {
	return [...]string{"not over", "finished", "console lost", "drained", "no majority"}[r]
}

// Outcome is how a job ended.
type Outcome struct {
	Reason Reason
	Code   int32
}

// Ledger is all that a steward must know to go on where its predecessor stopped. A ledger that has
// been written isn't changed any more.
type Ledger struct {
	ID         Version // in which its content was last changed
	Base       Version // the ID of what its steward's term began with
	Electorate Electorate
	Hosts      []HostEntry // by number
	Places     []Place     // the last incarnation of each process, by its number
	Witness    Host        // or NoHost
	// EndWithConsole says that the job ends when the console is lost.
	EndWithConsole bool
	Outcome        Outcome
	// State is what the steward's driver keeps in the ledger, which the machine doesn't read.
	State []byte
}

func (l *Ledger) clone() *Ledger {
	c := *l
	c.Hosts, c.Places = slices.Clone(l.Hosts), slices.Clone(l.Places)
	return &c
}

// Entry is the entry of a host, nil if there is none.
func (l *Ledger) Entry(h Host) *HostEntry {
	i, found := slices.BinarySearchFunc(l.Hosts, h, func(x HostEntry, h Host) int { return int(x.Host - h) })
	if !found {
		return nil
	}
	return &l.Hosts[i]
}

// up says whether this incarnation of a host isn't over.
func (l *Ledger) up(h Host, i proto.Incarnation) bool {
	x := l.Entry(h)
	return x != nil && x.Incarnation == i && (x.State == Up || x.State == Draining)
}

// lose notes that an incarnation of a host is over, and so its processes.
func (l *Ledger) lose(h Host) {
	x := l.Entry(h)
	x.State = Lost
	for i := range l.Places {
		if p := &l.Places[i]; p.Host == h && p.HostIncarnation == x.Incarnation && p.State != Ended {
			p.State, p.How = Ended, LostWithHost
		}
	}
	if x.Console && l.EndWithConsole && l.Outcome.Reason == NotOver {
		l.Outcome = Outcome{Reason: ConsoleLost}
	}
}

// admit notes that an incarnation of a host has come.
func (l *Ledger) admit(h Host, i proto.Incarnation, domain int32) {
	if x := l.Entry(h); x != nil {
		if x.Incarnation, x.State = i, Up; x.Leaves {
			x.State = Draining
		}
		return
	}
	at, _ := slices.BinarySearchFunc(l.Hosts, h, func(x HostEntry, h Host) int { return int(x.Host - h) })
	l.Hosts = slices.Insert(l.Hosts, at, HostEntry{Host: h, Incarnation: i, Domain: domain})
}

// mayLeave says whether a host is to leave and can: nothing runs there, and it doesn't vote any
// more. Without those that vote nothing is durable, also not how the job ends: so the last host
// stays.
func (l *Ledger) mayLeave(x *HostEntry) bool {
	return x.State == Draining && !l.Electorate.Includes(x.Host) && !l.busy(x.Host)
}

// NewLedger is the first ledger of a job, with its voters elected. All agents are given it when
// they are started, so that it is written everywhere, as version 0 of term 1. The most senior
// voter is the steward of that term.
func NewLedger(hosts []HostEntry, places []Place, witness Host, endWithConsole bool, voters int) *Ledger {
	l := &Ledger{ID: first, Hosts: hosts, Places: places, Witness: witness, EndWithConsole: endWithConsole}
	l.Electorate.Since = first
	l.Electorate.Voters = l.Elect(voters)
	return l
}

// first is the version of the first ledger.
var first = Version{Term: 1}
