package engine

import (
	"errors"

	"banyan/internal/proto/once"
	"banyan/internal/runtime/process"
)

// Once is something that all replicas of a rank come to, and one of them does: it reads or writes a
// file, say. The others get its result. No replica goes on before all live ones have the result, so
// what a program does afterwards follows something that won't be done again.
type Once struct {
	// Stream, Op and Step name it: the same at all replicas, and never used again.
	Stream, Op, Step uint64
	// Heavy says that the result has much data: then it doesn't pile up at a slow replica.
	Heavy bool
	// Do does it, on a goroutine of its own, without the engine's lock. again says that
	// another replica may have begun it, and has died.
	Do func(again bool) []byte
	// Mine says, when it has ended, that it was done here.
	Mine bool

	result once.Result
}

// Combine is there so that a step can hold a Once.
func (*Once) Combine(_, _ []byte) {}

// Once adds something that one replica does. It counts as an operation that is started, so a Wait
// waits for its end.
func (s *Schedule) Once(o *Once) { s.start(StepOnce).With = o }

// ErrNoReplicas is the error of a Once in a job without replicas.
var ErrNoReplicas = errors.New("the job has no replicas")

// RunOnce does something once, and waits for it.
func (e *Engine) RunOnce(o *Once) error {
	if !e.Layout().Replicated() {
		return ErrNoReplicas
	}
	var s Schedule
	s.Name = "Once"
	s.Once(o)
	s.Wait()
	return e.Run(&s)
}

// Result is the result of a Once that has ended. Nobody may change it.
func (o *Once) Result() []byte { return o.result.Data }

// doOnce starts a Once. The lock is held.
func (e *Engine) doOnce(o *Once) process.Handle {
	k := once.Key{Stream: o.Stream, Op: o.Op, Step: o.Step}
	return e.p.DoOnce(k, func(again bool) { go e.perform(k, o, again) }, &o.result)
}

// perform does it.
func (e *Engine) perform(k once.Key, o *Once, again bool) {
	data := o.Do(again)
	e.lock()
	defer e.unlock()
	if e.closed {
		return
	}
	o.Mine = true
	e.p.Performed(k, once.Result{Heavy: o.Heavy, Data: data})
	if e.waiting.sleeping {
		e.tr.Wake() // a thread that waits for it may sleep there
	}
	e.rouse()
}
