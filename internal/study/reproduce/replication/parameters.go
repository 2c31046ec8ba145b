package replication

import (
	"fmt"
	"slices"
	"strings"
)

// Parameters are what the report is made of.
type Parameters struct {
	Command string // that makes the report again
	// Measured are runs on the machine at hand; there may be none. MeasuredBy says how they were
	// made.
	Measured   []Measurement
	MeasuredBy string
	// Predicted are simulated runs; there may be none. PredictedBy says where they are from.
	Predicted   []Prediction
	PredictedBy string
}

// Measurement is one run.
type Measurement struct {
	Part            Part
	Name            string // language of a ping-pong, application, or transport of a failover
	Bytes           int    // of a ping-pong's message
	Ranks, Replicas int
	Setting         Setting
	Round           int // of which ratios are taken
	// Seconds are one way of a ping-pong, an application from start to end, or the pause of a
	// failover; CPU is what all processors spent for an application.
	Seconds, CPU float64
	// Messages and Acknowledgements are frames that were sent; they are counted of Traffic only.
	Messages, Acknowledgements int
	Instructions               int // of a message sent and one received
}

// Part is what was run.
type Part string

// Parts.
const (
	PingPong    Part = "pingpong"
	Application Part = "application"
	Traffic     Part = "traffic"  // frames of a ping-pong
	Failover    Part = "failover" // from a kill to the next message
	// Instructions are those of one message sent and one received, counted where nothing is waited
	// for. Names say of which replica: Behind or Ahead of the others of its rank. An unreplicated
	// process is Behind, or sends ByLane.
	Instructions Part = "instructions"
)

// Names of Instructions.
const (
	Behind = "behind"
	Ahead  = "ahead"
	ByLane = "lane"
)

// Setting is how it was run.
type Setting string

// Settings.
const (
	Alone    Setting = "alone"        // one job without replicas
	Beside   Setting = "side by side" // as many of these as others have replicas, at once
	Parallel Setting = "parallel"     // one job with replicas, by the paper's protocol
	Mirror   Setting = "mirror"       // every replica sends to all replicas
	Each     Setting = "each"         // parallel, with an acknowledgement for each message
)

// Validate returns an error for measurements that make no sense.
func (p *Parameters) Validate() error {
	for i := range p.Measured {
		m := &p.Measured[i]
		switch {
		case !slices.Contains([]Part{PingPong, Application, Traffic, Failover, Instructions}, m.Part):
			return fmt.Errorf("measurement %d: no part is called %q", i+1, m.Part)
		case m.Ranks < 2 || m.Replicas < 2:
			return fmt.Errorf("measurement %d: %d ranks with %d replicas: want 2 of each at least", i+1, m.Ranks, m.Replicas)
		case m.Part == Traffic && m.Messages <= 0, m.Part == Instructions && m.Instructions <= 0,
			m.Part != Traffic && m.Part != Instructions && !(m.Seconds > 0):
			return fmt.Errorf("measurement %d: %+v: want a time, or counts", i+1, *m)
		case strings.TrimSpace(m.Name) == "":
			return fmt.Errorf("measurement %d: want a name", i+1)
		}
	}
	for i := range p.Predicted {
		if err := p.Predicted[i].validate(); err != nil {
			return fmt.Errorf("prediction %d: %w", i+1, err)
		}
	}
	return nil
}
