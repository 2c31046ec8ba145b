package viewsim

import "banyan/internal/proto"

// Traffic is messages sent, by kind, in whichever protocol's terms.
type Traffic struct {
	Propose  int // down the tree: of the paper's FAILED_NODE, ROOT_DEAD and NEW_NODE_JOIN
	Ack      int // up
	Commit   int // down, after all have acknowledged; the paper's welcome of a process that joins
	Takeover int // Collect and Report
	Other    int // asking, redirecting, rejecting; telling the root, and its answers
}

// Total is all of them.
func (t *Traffic) Total() int { return t.Propose + t.Ack + t.Commit + t.Takeover + t.Other }

// Outcome is the result of a run. Times count from the first step of a coordinator.
type Outcome struct {
	Stable    proto.Time // when the last coordinator had all acknowledgements
	Installed proto.Time // when the last process had installed the last view
	Traffic   Traffic
	// Bytes are those of all messages, without headers and addresses, of Banyan's protocol: as
	// groups send them, with views as steps; and as they would be with whole views.
	Bytes, WholeBytes int
	Views             int // in the end, after the first
	Live              int // processes in the end
	// Agreed says that all live processes ended with one view, whose members they are.
	Agreed bool
	// Collided says that there were two views of one number with different members.
	Collided bool
	// Waits says that a coordinator waits for ever for acknowledgements.
	Waits bool
}

// clock notes the times of an outcome.
type clock struct {
	began, stable, installed proto.Time
}

func newClock() clock { return clock{began: proto.Never} }

func (c *clock) begin(now proto.Time) { c.began = min(c.began, now) }

func (c *clock) fill(o *Outcome) {
	o.Stable, o.Installed = max(0, c.stable-c.began), max(0, c.installed-c.began)
}
