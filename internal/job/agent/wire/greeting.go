package wire

import (
	"encoding/json"
	"fmt"

	"banyan/internal/job/agent"
	"banyan/internal/job/agent/lease"
)

// Greeting is how a connection begins, as JSON: the agent's Hello, and the launcher's Welcome or
// either side's Refusal. A reader ignores unknown fields, so that any two versions can tell each
// other why they don't talk.
type Greeting struct {
	Version int    `json:"version"`
	Build   string `json:"build,omitempty"`
	// Instance is a random number: of the agent, or of the launcher. Another process has another.
	Instance uint64 `json:"instance,omitempty"`
	// Term is the launcher's. In a Hello it is the highest that the agent has seen.
	Term uint64     `json:"term,omitempty"`
	Host agent.Host `json:"host,omitzero"` // of a Hello
	// Request is what a Hello asks for, and Grant what a Welcome grants.
	Request lease.Request `json:"request,omitzero"`
	Grant   lease.Grant   `json:"grant,omitzero"`
	// Dead is set in the Hello of an agent's parent: it says how the agent has died. Nothing but a
	// Welcome or Refusal follows.
	Dead string `json:"dead,omitempty"`
	// Stands is set in the Hello of an agent's parent whose agent lives. After the Welcome it sends
	// another Hello, with Dead, when the agent has died.
	Stands bool   `json:"stands,omitempty"`
	Text   string `json:"text,omitempty"` // of a Refusal: one line
	// Passing says that the reason of a Refusal may pass: the agent may ask again.
	Passing bool `json:"passing,omitempty"`
}

// Frame is the greeting as a frame.
func (g Greeting) Frame(k Kind) (*Frame, error) {
	b, err := json.Marshal(g)
	if err == nil && len(b) >= MaxFrame {
		err = fmt.Errorf("%d bytes are too many", len(b))
	}
	return &Frame{Kind: k, Data: b}, err
}

// Greeting reads the greeting of a frame.
func (f *Frame) Greeting() (g Greeting, err error) {
	if err := json.Unmarshal(f.Data, &g); err != nil {
		return g, fmt.Errorf("%w: %v", ErrCorrupt, err)
	}
	return g, nil
}

// Disagreement says in one line why a side of a version and a build can't talk to the other one,
// which said g; empty if it can.
func (g Greeting) Disagreement(version int, build, other string) string {
	switch {
	case g.Version != version:
		return fmt.Sprintf("%s speaks version %d of the agents' protocol, and this side version %d: install the same Banyan on all hosts", other, g.Version, version)
	case g.Build != build:
		return fmt.Sprintf("%s is another build of Banyan (%s) than this side (%s): install the same one on all hosts", other, g.Build, build)
	}
	return ""
}
