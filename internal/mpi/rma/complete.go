package rma

import (
	"errors"
	"sync/atomic"

	"banyan/internal/mpi/comm"
)

// order keeps loads and stores before it apart from those after it, in C as well.
func order() {
	var word atomic.Uint32
	word.Swap(1)
}

// dirty are the targets at which something isn't known to be done.
func (w *Window) dirty() (ranks []int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for r := range w.to {
		if to := &w.to[r]; to.dirty || len(to.reads)+len(to.sends) > 0 {
			ranks = append(ranks, r)
		}
	}
	return ranks
}

// answered is a message that waits for its answer.
type answered struct {
	rank int
	come comm.Pending
	text []byte
}

// longestAnswer is the most bytes of an answer that isn't data.
const longestAnswer = 512

// ask sends a message to a rank, and posts the receive of its answer.
func (w *Window) ask(rank int, v verb) (*answered, error) {
	a := &answered{rank: rank, text: make([]byte, longestAnswer)}
	w.mu.Lock()
	tag := w.answerTag()
	if v == flush || v == unlock {
		w.to[rank].dirty = false
	}
	w.mu.Unlock()
	var err error
	if a.come, err = w.answers.Irecv(a.text, rank, int(tag)); err != nil {
		return nil, err
	}
	return a, w.send(rank, &message{verb: v, answer: tag})
}

// await waits for the answer.
func (a *answered) await() error {
	s, err := a.come.WaitOrWithdraw()
	a.text = a.text[:min(s.Bytes, len(a.text))]
	return err
}

// complete waits until all accesses to some targets are done there, and here. v is flush, or
// unlock for targets whose locks are given back with it.
func (w *Window) complete(ranks []int, v verb) (first error) {
	w.wait.Lock()
	defer w.wait.Unlock()
	asked := make([]*answered, 0, len(ranks))
	for _, r := range ranks {
		w.mu.Lock()
		dirty := w.to[r].dirty || v == unlock
		w.mu.Unlock()
		if !dirty {
			continue
		}
		a, err := w.ask(r, v)
		first = either(first, err)
		if err == nil {
			asked = append(asked, a)
		}
	}
	for _, a := range asked {
		if err := a.await(); err != nil {
			first = either(first, err)
		} else if len(a.text) > 0 {
			first = either(first, wrong(ErrRange, "rank %d has refused an access: %s", a.rank, a.text))
		}
	}
	return either(first, w.finishNow(ranks, true))
}

// finish waits until the program's buffers of accesses to some targets are its own again. sent
// says that the messages have left, too. If another thread waits for these accesses, so does this
// one.
func (w *Window) finish(ranks []int, sent bool) error {
	w.wait.Lock()
	defer w.wait.Unlock()
	return w.finishNow(ranks, sent)
}

// finishNow is finish with the lock wait held.
func (w *Window) finishNow(ranks []int, sent bool) (first error) {
	defer w.settle()
	for _, r := range ranks {
		w.mu.Lock()
		to := &w.to[r]
		reads, sends := to.reads, to.sends
		to.reads = nil
		if sent {
			to.sends, to.held = nil, 0
		}
		w.mu.Unlock()
		for _, o := range reads {
			s, err := w.comm.Engine().Wait(o.handle)
			if err = o.End(s, err); !o.asked {
				first = either(first, err)
			}
		}
		for _, s := range sends {
			if sent {
				_, err := s.Wait()
				first = either(first, err)
			}
		}
	}
	return first
}

func either(first, second error) error {
	if first == nil || errors.Is(first, ErrRange) && second != nil && !errors.Is(second, ErrRange) {
		return second
	}
	return first
}

// everyone are all ranks.
func (w *Window) everyone() []int {
	all := make([]int, w.comm.Size())
	for i := range all {
		all[i] = i
	}
	return all
}

// Flush waits until this rank's accesses to a target are done there; to all of them if rank is
// negative. locally is enough if the program's buffers are its own again.
func (w *Window) Flush(rank int, locally bool) error {
	all, _ := w.native.AllLocked()
	switch {
	case rank < 0 && !w.native.Passive():
		return wrong(ErrSync, "this rank hasn't locked any part")
	case rank >= 0 && !all && !w.native.LockOf(rank).Held():
		return wrong(ErrSync, "this rank hasn't locked rank %d's part", rank)
	}
	defer order()
	order()
	ranks := []int{rank}
	if rank < 0 {
		ranks = w.dirty()
	}
	if locally {
		return w.finish(ranks, false)
	}
	return w.complete(ranks, flush)
}
