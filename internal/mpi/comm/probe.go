package comm

import (
	"context"

	"banyan/internal/runtime/engine"
)

// Probe waits until a message has arrived that a Recv would take.
func (c *Comm) Probe(source, tag int) (Status, error) {
	if err := c.checkReceive("Probe", source, tag); err != nil {
		return Status{}, err
	}
	s, err := c.eng.ProbeWait(c.context, c.world(source), int32(tag))
	if err != nil {
		return Status{}, &Error{"Probe", c.rank, source, tag, c.eng.Located(err)}
	}
	return c.status(s), nil
}

// ProbeContext is Probe for a wait that ends with a context, too.
func (c *Comm) ProbeContext(ctx context.Context, source, tag int) (Status, error) {
	if err := c.checkReceive("Probe", source, tag); err != nil {
		return Status{}, err
	}
	s, err := c.eng.ProbeContext(ctx, c.context, c.world(source), int32(tag))
	if err != nil {
		return Status{}, &Error{"Probe", c.rank, source, tag, c.eng.Located(err)}
	}
	return c.status(s), nil
}

// Iprobe tells whether a message has arrived that a Recv would take.
func (c *Comm) Iprobe(source, tag int) (Status, bool, error) {
	if err := c.checkReceive("Iprobe", source, tag); err != nil {
		return Status{}, false, err
	}
	s, ok, err := c.eng.Probe(c.context, c.world(source), int32(tag))
	if err != nil {
		return Status{}, false, &Error{"Iprobe", c.rank, source, tag, c.eng.Located(err)}
	}
	if !ok {
		return Status{}, false, nil
	}
	return c.status(s), true, nil
}

// Message is a message that Mprobe or Improbe has taken. It is received once.
type Message struct {
	comm   *Comm
	handle engine.Handle
	status Status
}

// Status says where the message is from, and how large.
func (m Message) Status() Status { return m.status }

// Mprobe waits until a message has arrived that a Recv would take, and takes it.
func (c *Comm) Mprobe(source, tag int) (Message, error) {
	if err := c.checkReceive("Mprobe", source, tag); err != nil {
		return Message{}, err
	}
	h, s, err := c.eng.MatchedProbeWait(c.context, c.world(source), int32(tag))
	if err != nil {
		return Message{}, &Error{"Mprobe", c.rank, source, tag, c.eng.Located(err)}
	}
	return Message{c, h, c.status(s)}, nil
}

// Improbe takes a message that has arrived and that a Recv would take, if there is one.
func (c *Comm) Improbe(source, tag int) (Message, bool, error) {
	if err := c.checkReceive("Improbe", source, tag); err != nil {
		return Message{}, false, err
	}
	h, s, ok, err := c.eng.MatchedProbe(c.context, c.world(source), int32(tag))
	if err != nil {
		return Message{}, false, &Error{"Improbe", c.rank, source, tag, err}
	}
	if !ok {
		return Message{}, false, nil
	}
	return Message{c, h, c.status(s)}, true, nil
}

// Recv receives the message.
func (m Message) Recv(buffer []byte) (Status, error) { return m.Irecv(buffer).Wait() }

// Irecv starts a Recv. The buffer belongs to it until the operation has ended.
func (m Message) Irecv(buffer []byte) Pending {
	h := m.comm.eng.ReceiveMatched(m.handle, buffer)
	return m.comm.Started(h, m.status.Source, m.status.Tag)
}
