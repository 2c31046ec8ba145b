package qos

import (
	"banyan/internal/proto"
	"banyan/internal/study/driver/oneport"
	"banyan/internal/study/parallel"
	"banyan/internal/study/protocol/swim"
)

// swimMessage is a message of the randomised detector.
type swimMessage struct{ swim.Message }

// Kind is called by the network.
func (m swimMessage) Kind() uint8 { return uint8(m.Message.Kind) }

// members are the randomised detector's machines.
type members struct {
	*world[swimMessage]
	machines   []*swim.Machine
	actions    swim.Actions
	suspicions int // raised about live processes, by any process
}

// newSwim prepares a run of the randomised detector with a period and a time-out
// for suspects.
func newSwim(scene *Scenario, system System, period, suspicion proto.Time, mediators int, seed uint64) (run, error) {
	m := &members{
		world:    newWorld[swimMessage](scene, system, seed),
		machines: make([]*swim.Machine, scene.Nodes),
	}
	m.group = m
	for p := range m.machines {
		cfg := swim.Config{
			Self: proto.Proc(p), N: scene.Nodes,
			Period: period, ProbeTimeout: period / 2, Indirect: mediators,
			Suspicion: suspicion, RoundRobin: system == SwimRoundRobin,
			Transmit: swim.DefaultTransmit(scene.Nodes), Seed: parallel.Seed(seed, 1),
		}
		if err := cfg.Validate(); err != nil {
			return nil, err
		}
		m.machines[p] = swim.New(cfg, 0)
	}
	var err error
	m.Network, err = oneport.New[swimMessage](scene.config(system, seed), m.world)
	return m, err
}

func (m *members) deadline(node int32) proto.Time { return m.machines[node].Deadline() }

func (m *members) tick(now proto.Time, node int32, out *[]oneport.Send[swimMessage]) {
	m.actions = m.actions[:0]
	m.machines[node].Tick(now, &m.actions)
	m.carryOut(now, node, out)
}

func (m *members) receive(now proto.Time, node, from int32, msg *swimMessage, out *[]oneport.Send[swimMessage]) {
	m.actions = m.actions[:0]
	m.machines[node].Receive(now, proto.Proc(from), &msg.Message, &m.actions)
	m.carryOut(now, node, out)
}

func (m *members) carryOut(now proto.Time, node int32, out *[]oneport.Send[swimMessage]) {
	for i := range m.actions {
		a := &m.actions[i]
		if a.Kind == swim.SendMessage {
			*out = append(*out, oneport.Send[swimMessage]{To: int32(a.To), Message: swimMessage{a.Message}})
			continue
		}
		of := int32(a.Changed.Proc)
		switch a.Changed.State {
		case swim.Dead:
			m.past.Declare(now, node, of)
		case swim.Suspect:
			m.past.Trust(now, node, of) // it may have been thought dead in an earlier incarnation
			if m.Alive(of) {
				m.suspicions++
			}
		default:
			m.past.Trust(now, node, of)
		}
		m.declared()
	}
}
