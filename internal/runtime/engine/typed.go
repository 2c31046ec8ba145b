package engine

import (
	"time"

	"banyan/internal/proto"
)

// Sends that tell the receiver the type of their data, by its number (wire.MaxType is the largest).
// They differ from the others by two stores, which those that don't need them don't pay.

// SendTyped is Send for data of a type.
func (e *Engine) SendTyped(context uint64, dst proto.Rank, tag int32, data []byte, typ uint32) Handle {
	e.lock()
	h := e.sendTyped(context, dst, tag, data, typ)
	e.serve()
	e.unlock()
	return h
}

// SendTypedWait is SendWait for data of a type.
func (e *Engine) SendTypedWait(context uint64, dst proto.Rank, tag int32, data []byte, typ uint32) error {
	e.lock()
	h := e.sendTyped(context, dst, tag, data, typ)
	var err error
	if h != (Handle{}) {
		e.until(func() bool { return e.p.Done(h) })
		_, err = e.take(h)
	}
	e.unlock()
	return err
}

func (e *Engine) sendTyped(context uint64, dst proto.Rank, tag int32, data []byte, typ uint32) Handle {
	e.alongside()
	e.p.SetType(typ)
	h := e.send(context, dst, tag, data)
	e.p.SetType(0)
	if h == (Handle{}) && e.shared.Queues(dst) {
		e.relieve(dst)
	}
	return h
}

// nameOfTypeLimit is how long TypeName waits for an answer. The sender's progress thread gives it
// within some milliseconds, unless its host has stalled.
const nameOfTypeLimit = proto.Time(time.Second)

// TypeName asks a rank what it calls a type, by the number that its message had. It returns "" if
// the rank doesn't know, is gone, or doesn't answer soon.
func (e *Engine) TypeName(rank proto.Rank, typ uint32) (name string) {
	e.lock()
	defer e.unlock()
	e.p.At(e.now())
	told := false
	if name, told = e.p.TypeName(typ); told || !e.p.AskTypeName(rank, typ) {
		return name
	}
	giveUp := time.AfterFunc(time.Duration(nameOfTypeLimit), func() { e.tell(nothing) })
	defer giveUp.Stop()
	end := e.now() + nameOfTypeLimit
	e.until(func() bool {
		name, told = e.p.TypeName(typ)
		return told || e.now() >= end
	})
	return name
}
