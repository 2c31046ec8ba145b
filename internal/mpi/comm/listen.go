package comm

import (
	"banyan/internal/proto"
	"banyan/internal/runtime/engine"
)

// HeardTag is the tag of messages that a listener hears.
const HeardTag = engine.HeardTag

// Listen has the messages with HeardTag heard as they come: see engine.Listen.
func (c *Comm) Listen(l engine.Listener) *engine.Ear { return c.eng.Listen(c.context, l) }

// ListenInOrder is Listen in leader order, with answers on another communicator of the same
// members: see engine.ListenInOrder.
func (c *Comm) ListenInOrder(answers *Comm, l engine.Listener) *engine.Ear {
	return c.eng.ListenInOrder(c.context, answers.context, l)
}

// Await waits for what a listener hears of a rank: see engine.Await.
func (c *Comm) Await(from int, name, what string, met func(lost func(proto.Rank) bool) (bool, error)) error {
	return c.wrap(name, c.eng.Await(c.context, c.group[from], name, what, met))
}

// Title names the communicator among the parts of a process, for what stands on it.
func (c *Comm) Title() string { return c.title() }
