package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"banyan/internal/proto"
	"banyan/internal/runtime/process"
)

// Waits that end with a context, too. What was waited for goes on: it belongs to the program, which
// may wait again or, if it is a receive, cancel it.
//
// When a context ends is decided by timing. In leader order the leading replica decides it. In free
// order the replicas of a rank may see different ends, as they may see different answers of Test.

// InterruptedError says that a wait has ended with its context.
type InterruptedError struct {
	Err   error  // the context's
	Waits string // what the program waited for, as Explain says it
}

func (e *InterruptedError) Error() string {
	if e.Waits == "" {
		return e.Err.Error()
	}
	return fmt.Sprintf("%v: it %s", e.Err, e.Waits)
}

// Unwrap returns the context's error.
func (e *InterruptedError) Unwrap() error { return e.Err }

// wakeAtEnd has those that wait look again when a context ends, until stop is called.
func (e *Engine) wakeAtEnd(ctx context.Context) (stop func() bool) {
	return context.AfterFunc(ctx, func() { e.tell(nothing) })
}

// WaitAnyContext is WaitAny for a wait that ends with a context, too. Then it returns -1 and an
// InterruptedError, and all operations go on.
func (e *Engine) WaitAnyContext(ctx context.Context, hs []Handle) (int, Status, error) {
	if len(hs) == 0 {
		return -1, Status{}, nil
	}
	defer e.wakeAtEnd(ctx)()
	e.lock()
	defer e.unlock()
	found, over := -1, len(hs) // from over on: its context has ended
	if e.led {
		found = int(e.answer(process.AskEnded, true, func() uint64 { return uint64(e.endOf(ctx, hs) + 1) })) - 1
		if found >= 0 && found < over {
			e.until(func() bool { return e.p.Done(hs[found]) })
		}
	} else {
		if found = e.endOf(ctx, hs); found >= over {
			e.try() // what is here counts, however late it is
		}
		e.until(func() bool {
			found = e.endOf(ctx, hs)
			return found >= 0
		})
	}
	switch {
	case found >= over:
		return -1, Status{}, e.interrupted(endings[(found-over)%len(endings)])
	case found < 0: // closed
		found = 0
	}
	s, err := e.take(hs[found])
	return found, s, err
}

// endings are how contexts end. All replicas of a rank are told which it was.
var endings = [...]error{context.DeadlineExceeded, context.Canceled}

// ended says how a context has ended, as an index of endings; ok is false if it hasn't.
func ended(ctx context.Context) (how int, ok bool) {
	switch err := ctx.Err(); {
	case err == nil:
		return 0, false
	case errors.Is(err, context.DeadlineExceeded):
		return 0, true
	}
	return 1, true
}

// endOf is the first operation that has ended; if none has, but the context, len(hs) or more; -1 if
// nothing has.
func (e *Engine) endOf(ctx context.Context, hs []Handle) int {
	found := e.firstDone(hs)
	if how, over := ended(ctx); found < 0 && over {
		return len(hs) + how
	}
	return found
}

// interrupted is the error of a wait that has ended with its context. The lock is held.
func (e *Engine) interrupted(err error) error {
	text := e.explanation(e.p.Waits(), false)
	if text == waitsForNothing {
		text = "" // what it waited for has ended meanwhile, or needs no other rank
	}
	return &InterruptedError{err, text}
}

// ReceiveContext is ReceiveWait for a wait that ends with a context, too. Then the receive is
// withdrawn: the message, if it comes, is for another receive.
func (e *Engine) ReceiveContext(ctx context.Context, id uint64, src proto.Rank, tag int32, buffer []byte) (Status, error) {
	if e.led { // a message may have come here before the receive that the leader cancels
		s, err := e.probeContextLed(ctx, id, src, tag)
		if err != nil {
			return Status{}, err
		}
		return e.ReceiveWait(id, s.Source, s.Tag, buffer)
	}
	h := e.Receive(id, src, tag, buffer)
	i, s, err := e.WaitAnyContext(ctx, []Handle{h})
	switch {
	case i < 0 && e.Cancel(h):
		e.Wait(h) // it forgets the receive
		return Status{}, err
	case i < 0: // a message is on its way into the buffer
		return e.WaitOrWithdraw(h)
	case err != nil:
		e.lock()
		err = e.withdrawn(h, err)
		e.unlock()
	}
	return s, err
}

// probeEvery is how often a probe with a context looks in leader order, where each look is a
// decision that all replicas of the rank are told.
const probeEvery = time.Millisecond

// ProbeContext is ProbeWait for a wait that ends with a context, too.
func (e *Engine) ProbeContext(ctx context.Context, id uint64, src proto.Rank, tag int32) (s Status, err error) {
	if e.led {
		return e.probeContextLed(ctx, id, src, tag)
	}
	defer e.wakeAtEnd(ctx)()
	e.lock()
	defer e.unlock()
	ok, over := false, false
	e.probing(id, src, tag, func() bool {
		if s, ok, err = e.p.Probe(id, src, tag); ok || err != nil {
			return true
		}
		if over = ctx.Err() != nil; over {
			err = e.interrupted(ctx.Err())
		}
		return over
	})
	if !ok && err == nil {
		err = process.ErrClosed
	}
	return s, err
}

func (e *Engine) probeContextLed(ctx context.Context, id uint64, src proto.Rank, tag int32) (Status, error) {
	for {
		s, ok, err := e.Probe(id, src, tag)
		if ok || err != nil {
			return s, err
		}
		over := e.Decide(false, func(func(Handle) bool) uint64 {
			how, ok := ended(ctx)
			return uint64(how+1) * truth(ok)
		})
		if over != 0 {
			return s, &InterruptedError{Err: endings[(over-1)%uint64(len(endings))]}
		}
		time.Sleep(probeEvery)
	}
}
