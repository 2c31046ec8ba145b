package comm

import (
	"banyan/internal/progress"
	"banyan/internal/proto"
)

// Combine folds the right operand into the left: left[i] = left[i] op right[i].
// Both are whole elements of the same number. It must be associative; it need
// not be commutative.
type Combine func(left, right []byte)

// call is one collective in progress: point-to-point steps in the collective
// context, told apart from the calls before and after by their tag.
type call struct {
	*Comm
	tag int32
}

func (c *Comm) begin() call {
	c.mu.Lock()
	c.calls = (c.calls + 1) & maxTag
	k := call{c, c.calls}
	c.mu.Unlock()
	return k
}

func (k call) send(to int, data []byte) error {
	return k.eng.SendWait(k.context|collectivePart, k.group[to], k.tag, data)
}

// recv receives exactly as much as the buffer holds.
func (k call) recv(from int, buffer []byte) error {
	s, err := k.eng.ReceiveWait(k.context|collectivePart, k.group[from], k.tag, buffer)
	return exactly(s, err, len(buffer))
}

func (k call) isend(to int, data []byte) progress.Handle {
	return k.eng.Send(k.context|collectivePart, k.group[to], k.tag, data)
}

func (k call) irecv(from int, buffer []byte) progress.Handle {
	return k.eng.Receive(k.context|collectivePart, k.group[from], k.tag, buffer)
}

// exchange sends to one member and receives from another at once.
func (k call) exchange(to int, data []byte, from int, buffer []byte) error {
	r := k.irecv(from, buffer)
	err := k.send(to, data)
	if err != nil {
		k.eng.Cancel(r)
	}
	s, rerr := k.eng.Wait(r)
	if err != nil {
		return err
	}
	return exactly(s, rerr, len(buffer))
}

// finish waits for operations that were started together. sizes says what each
// must have received, or -1 for a send. The first error counts.
func (k call) finish(hs []progress.Handle, sizes []int) error {
	var first error
	for i, h := range hs {
		s, err := k.eng.Wait(h)
		if sizes[i] >= 0 {
			err = exactly(s, err, sizes[i])
		}
		if first == nil {
			first = err
		}
	}
	return first
}

func exactly(s progress.Status, err error, want int) error {
	if err == nil && s.Bytes != want {
		return ErrMismatch
	}
	return err
}

// replicated tells whether ranks run as several replicas.
func (c *Comm) replicated() bool {
	_, degree := c.eng.Layout()
	return degree > 1
}

// Dup makes a communicator of the same members with traffic of its own.
func (c *Comm) Dup() (*Comm, error) {
	d, err := open(c.eng, c.child(0), append([]proto.Rank(nil), c.group...))
	if err != nil {
		return nil, c.wrap("Dup", err)
	}
	return d, nil
}
