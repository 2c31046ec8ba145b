package launcher

import (
	"bytes"
	"encoding/gob"
	"fmt"
	"maps"
	"slices"
	"time"

	"banyan/internal/fault"
	"banyan/internal/job/agent"
	"banyan/internal/layout"
	"banyan/internal/proto"
)

// State is what another launcher must know to go on with a job: what no agent knows. Which
// processes run, what they have said and how they ended the agents tell it (agent.Adopter).
type State struct {
	Job     Description
	Paths   []string // of the programs, by part
	Hosts   []agent.Host
	Lost    []bool // by host
	Left    []bool // by host: it was drained
	Drains  []DrainState
	Slots   []SlotState
	Survive bool // the program handles the loss of ranks
	// Name and Space are PMI's key-value space.
	Name   string
	Space  map[string]string
	Inputs map[proto.Proc]int64 // recoveryLead.inputAtMark
	Report Report
	// Faults are the planned ones, FaultsPast those whose time has come.
	Faults     []fault.Event
	FaultsPast []bool
	Trace      *TraceState // nil: there is none
}

// Description is the part of a Config that is data.
type Description struct {
	Parts                             []Part
	Degrees                           []int
	Protocol, Order                   string
	Verify                            bool
	Bind                              string
	Limit                             time.Duration
	Transport, Encrypt, Bcast         string
	HeartbeatPeriod, HeartbeatTimeout time.Duration
	Debug, Heal                       bool
	PrivateDir                        string
	Label, AllowSharedHost            bool
	Slots                             int
	Places                            []int
	Racks                             []string
}

// SlotState is what the state says of a replica slot.
type SlotState struct {
	Incarnation proto.Incarnation // of the process that fills it, or filled it last
	Last        proto.Incarnation // the highest in which a replacement may have been started
	Host, Pid   int
	Bases       [2]int64 // where its outputs begin in those of its rank
	// Tails are the ends of what its rank had written before, which may not have been shown.
	Tails [2][]byte
	// Next are those of the replacement of incarnation Last, once it follows.
	Next      [2]int64
	NextTails [2][]byte
	NextHost  int
	// Follows says that it does. Donor is its donor, also when it fills the slot.
	Follows          bool
	Donor            proto.Proc
	DonorIncarnation proto.Incarnation
	Entry            EntryState
}

// EntryState is the slot's entry in the ledger.
type EntryState struct {
	Ready, Finalized, Fenced, Outvoted bool
	Pid                                int
	Silent                             time.Duration
	By                                 proto.Proc
	Kind                               uint8 // endKind
	Lost                               bool
	Signal, Code                       int
}

// Encode writes a state.
func (s *State) Encode() ([]byte, error) {
	var b bytes.Buffer
	err := gob.NewEncoder(&b).Encode(s)
	return b.Bytes(), err
}

// DecodeState reads a state.
func DecodeState(b []byte) (*State, error) {
	s := new(State)
	if err := gob.NewDecoder(bytes.NewReader(b)).Decode(s); err != nil {
		return nil, fmt.Errorf("the job's state makes no sense: %w", err)
	}
	n := len(s.Slots)
	for _, slot := range s.Slots {
		if slot.Donor < 0 || int(slot.Donor) >= n {
			return nil, fmt.Errorf("the job's state makes no sense: the donor %d of %d processes", slot.Donor, n)
		}
		if slot.Host < 0 || slot.Host >= len(s.Hosts) || slot.NextHost < 0 || slot.NextHost >= len(s.Hosts) {
			return nil, fmt.Errorf("the job's state makes no sense: a process on host %d of %d", slot.Host, len(s.Hosts))
		}
	}
	if err := s.checkDrains(); err != nil {
		return nil, err
	}
	if n == 0 || len(s.Lost) != len(s.Hosts) || s.Left != nil && len(s.Left) != len(s.Hosts) || len(s.FaultsPast) != len(s.Faults) || len(s.Paths) != len(s.Job.Parts) || len(s.Job.Places) != n {
		return nil, fmt.Errorf("the job's state makes no sense: %d slots, %d hosts, %d programs", n, len(s.Hosts), len(s.Paths))
	}
	return s, nil
}

// Layout is that of the job's ranks.
func (s *State) Layout() layout.Layout {
	if s.Job.Transport == TransportInproc {
		return layout.Uniform(1, 1)
	}
	return layout.Partial(s.Job.Degrees)
}

// state is the job's State now.
func (j *job) state() *State {
	s := &State{
		Job: Description{
			Degrees: j.Degrees, Protocol: j.Protocol, Order: j.Order, Verify: j.Verify, Bind: j.Bind, Limit: j.Limit, Transport: j.Transport, Encrypt: j.Encrypt,
			Bcast: j.Bcast, HeartbeatPeriod: j.HeartbeatPeriod, HeartbeatTimeout: j.HeartbeatTimeout, Debug: j.Debug, Heal: j.Heal,
			PrivateDir: j.PrivateDir, Label: j.Label, AllowSharedHost: j.AllowSharedHost, Slots: j.Slots, Places: j.Places, Racks: j.Racks,
		},
		Hosts: j.hosts.found, Lost: make([]bool, len(j.hosts.found)), Survive: j.ledger.survive, Report: j.report,
		Slots: make([]SlotState, j.size), Left: slices.Clone(j.hosts.left), Drains: j.drainStates(),
		Faults: j.planned, FaultsPast: slices.Clone(j.past), Trace: j.recording.state(),
	}
	s.Name, s.Space = j.server.Space()
	for i := range j.parts {
		s.Job.Parts, s.Paths = append(s.Job.Parts, j.parts[i].Part), append(s.Paths, j.parts[i].path)
	}
	for i := range s.Lost {
		s.Lost[i] = j.report.Hosts[i].Lost != nil
	}
	for id, p := range j.procs {
		e := j.ledger.entries[id]
		s.Slots[id] = SlotState{
			Incarnation: p.incarnation, Last: p.incarnation, Host: p.host, Pid: p.pid, Bases: p.base, Tails: j.outputs.tails(p),
			Entry: EntryState{
				Ready: e.ready, Finalized: e.finalized, Fenced: e.fenced, Outvoted: e.outvoted, Pid: e.pid, Silent: e.silent, By: e.by,
				Kind: uint8(e.end.kind), Lost: e.end.lost, Signal: int(e.end.signal), Code: e.end.code,
			},
		}
		if j.recovery != nil {
			s.Slots[id].Last = max(p.incarnation, j.recovery.LastIncarnation(proto.Proc(id)))
		}
	}
	if r := j.recovery; r != nil {
		s.Inputs = maps.Clone(r.inputAtMark)
		for _, a := range r.Attempts() {
			s.Slots[a.Proc].Donor, s.Slots[a.Proc].DonorIncarnation = a.Donor.Proc, a.Donor.Incarnation
		}
		for _, x := range r.replacements {
			if p := x.process; p != nil {
				s.Slots[p.id].Next, s.Slots[p.id].NextTails, s.Slots[p.id].NextHost = p.base, j.outputs.tails(p), p.host
				s.Slots[p.id].Follows = p.follows
			}
		}
	}
	return s
}

// config is the Config of a job that goes on.
func (d *Description) config(c Config) Config {
	first := d.Parts[0]
	c.Ranks, c.Program, c.Args, c.Env, c.Dir = first.Ranks, first.Program, first.Args, first.Env, first.Dir
	c.More = d.Parts[1:]
	c.Degrees, c.Protocol, c.Order, c.Verify, c.Bind, c.Limit = d.Degrees, d.Protocol, d.Order, d.Verify, d.Bind, d.Limit
	c.Transport, c.Encrypt, c.Bcast, c.Debug, c.Heal = d.Transport, d.Encrypt, d.Bcast, d.Debug, d.Heal
	c.HeartbeatPeriod, c.HeartbeatTimeout = d.HeartbeatPeriod, d.HeartbeatTimeout
	c.PrivateDir, c.Label, c.AllowSharedHost, c.Slots, c.Places = d.PrivateDir, d.Label, d.AllowSharedHost, d.Slots, slices.Clone(d.Places)
	c.Racks = slices.Clone(d.Racks)
	return c
}

// keeping has the job's state kept. The loop owns it.
type keeping struct {
	dirty   bool
	busy    bool     // a state is on its way
	waiting []func() // until the present state is kept
	next    []func() // until the one on its way is
}

// changed says that the state has changed.
func (j *job) changed() {
	if j.Keep != nil {
		j.keeping.dirty = true
		j.keep()
	}
}

// durably calls f, in the loop, once the present state is kept.
func (j *job) durably(f func()) {
	if j.Keep == nil {
		f()
		return
	}
	j.keeping.waiting = append(j.keeping.waiting, f)
	j.changed()
}

// keep has the state kept, if none is on its way. It doesn't wait, and what the loop does until it
// takes the next event is in the state.
func (j *job) keep() {
	k := &j.keeping
	if k.busy {
		return
	}
	k.busy = true
	go j.post(func() {
		k.dirty = false
		k.next, k.waiting = k.waiting, nil
		b, err := j.state().Encode()
		if err != nil {
			panic("launcher: " + err.Error()) // all of it can be written
		}
		j.Keep(b, func() {
			j.post(func() {
				k.busy = false
				next := k.next
				k.next = nil
				for _, f := range next {
					f()
				}
				if k.dirty {
					j.keep()
				}
			})
		})
	})
}
