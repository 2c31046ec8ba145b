package remote

import (
	"errors"
	"fmt"
	"io"

	"banyan/internal/job/agent"
	"banyan/internal/job/agent/link"
	"banyan/internal/job/agent/wire"
	"banyan/internal/proto"
)

// The parts of snapshots that another host keeps come and go on streams of their own, one for each
// question. They go through the launcher: two hosts have no connection for them.

// partStream names the stream of a question about a process's part.
func partStream(p proto.Proc, ask uint64) wire.Stream {
	return wire.Stream{Proc: p, Incarnation: proto.Incarnation(ask), Channel: wire.Part}
}

// errNoSnapshots is what an agent answers that keeps none.
var errNoSnapshots = errors.New("the agent keeps no snapshots")

// readPart answers with a part.
func (s *server) readPart(m wire.Message) {
	answer := wire.Message{Type: wire.PartRead, Ask: m.Ask}
	n, err := s.sendPart(m)
	if answer.Count = n; err != nil {
		answer.Text = err.Error()
	}
	s.say(answer)
}

func (s *server) sendPart(m wire.Message) (n int64, err error) {
	to := s.link.Out(partStream(m.Proc, m.Ask), true)
	defer to.Close()
	keeps, is := s.local.(agent.SnapshotAgent)
	if !is || m.Slot < 0 || m.Slot > 1 {
		return 0, errNoSnapshots
	}
	some, err := agent.DecodePartBlocks(m.Words)
	if err != nil {
		return 0, err
	}
	from, err := keeps.ReadPart(m.Proc, m.Slot, some)
	if err != nil {
		return 0, err
	}
	defer from.Close()
	return io.CopyBuffer(struct{ io.Writer }{to}, struct{ io.Reader }{from}, make([]byte, copied))
}

// digestPart says what a memory has.
func (s *server) digestPart(m wire.Message) {
	answer := wire.Message{Type: wire.PartDigested, Ask: m.Ask}
	d, err := s.digests(m)
	if answer.Words = d.Encode(); err != nil {
		answer.Text = err.Error()
	}
	s.say(answer)
}

func (s *server) digests(m wire.Message) (agent.PartDigests, error) {
	keeps, is := s.local.(agent.SnapshotAgent)
	if !is || m.Slot < 0 || m.Slot > 1 {
		return agent.PartDigests{}, errNoSnapshots
	}
	return keeps.PartDigests(m.Proc, m.Slot)
}

// writePart takes a part, and answers when it is there.
func (s *server) writePart(m wire.Message, from *link.In) {
	answer := wire.Message{Type: wire.PartWritten, Ask: uint64(m.Count)}
	n, err := s.takePart(m, from)
	if answer.Count = n; err != nil {
		answer.Text = err.Error()
		from.Close()
	}
	s.say(answer)
}

func (s *server) takePart(m wire.Message, from *link.In) (n int64, err error) {
	keeps, is := s.local.(agent.SnapshotAgent)
	if !is || m.Slot < 0 || m.Slot > 1 {
		return 0, errNoSnapshots
	}
	some, err := agent.DecodePartBlocks(m.Words)
	if err != nil {
		return 0, err
	}
	to, err := keeps.WritePart(m.Proc, m.Slot, some)
	if err != nil {
		return 0, err
	}
	n, err = io.CopyBuffer(struct{ io.Writer }{to}, struct{ io.Reader }{from}, make([]byte, 1<<20))
	return n, errors.Join(err, to.Close())
}

// PartDigests implements agent.SnapshotAgent.
func (r *Remote) PartDigests(p proto.Proc, slot int) (agent.PartDigests, error) {
	number, answer, err := r.askWith(wire.Message{Type: wire.DigestPart, Proc: p, Slot: slot}, func(uint64) {})
	if err != nil {
		return agent.PartDigests{}, err
	}
	m, err := r.answered(number, answer)
	switch {
	case err != nil:
		return agent.PartDigests{}, err
	case m.Text != "":
		return agent.PartDigests{}, errors.New(m.Text)
	}
	return agent.DecodePartDigests(m.Words)
}

// ReadPart implements agent.SnapshotAgent.
func (r *Remote) ReadPart(p proto.Proc, slot int, some *agent.PartBlocks) (io.ReadCloser, error) {
	x := &incoming{r: r}
	var err error
	x.number, x.answer, err = r.askWith(wire.Message{Type: wire.ReadPart, Proc: p, Slot: slot, Words: some.Encode()}, func(number uint64) {
		x.In = r.link.In(partStream(p, number))
	})
	return x, err
}

// incoming is a part on its way from its host.
type incoming struct {
	*link.In
	r      *Remote
	number uint64
	answer <-chan wire.Message
	n      int64
}

// Read implements io.Reader. At the end it looks whether all has come.
func (x *incoming) Read(b []byte) (n int, err error) {
	n, err = x.In.Read(b)
	x.n += int64(n)
	if err != io.EOF {
		return n, err
	}
	m, err := x.r.answered(x.number, x.answer)
	switch {
	case err != nil:
		return n, err
	case m.Text != "":
		return n, errors.New(m.Text)
	case m.Count != x.n:
		return n, fmt.Errorf("%d bytes of %d have come", x.n, m.Count)
	}
	return n, io.EOF
}

// WritePart implements agent.SnapshotAgent.
func (r *Remote) WritePart(p proto.Proc, slot int, some *agent.PartBlocks) (io.WriteCloser, error) {
	x := &outgoing{r: r}
	x.number, x.answer = r.expect()
	m := wire.Message{Type: wire.WritePart, Proc: p, Slot: slot, Count: int64(x.number), Words: some.Encode()}
	number, ready, err := r.askWith(m, func(number uint64) { x.Out = r.link.Out(partStream(p, number), true) })
	if err == nil {
		_, err = r.answered(number, ready) // before that the agent doesn't know the stream
	}
	if err != nil {
		r.forget(x.number)
	}
	return x, err
}

// outgoing is a part on its way to a host.
type outgoing struct {
	*link.Out
	r      *Remote
	number uint64
	answer <-chan wire.Message
}

// Close implements io.Closer. It waits until the host has all.
func (x *outgoing) Close() error {
	x.Out.Close()
	m, err := x.r.answered(x.number, x.answer)
	switch {
	case err != nil:
		return err
	case m.Text != "":
		return errors.New(m.Text)
	case m.Count != int64(x.Written()):
		return fmt.Errorf("%d bytes of %d have come", m.Count, x.Written())
	}
	return nil
}

// answered waits for the answer to a question.
func (r *Remote) answered(number uint64, answer <-chan wire.Message) (wire.Message, error) {
	select {
	case m := <-answer:
		return m, nil
	case <-r.ended:
		r.forget(number)
		return wire.Message{}, agent.ErrHostLost
	}
}
