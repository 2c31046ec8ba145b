package link

import (
	"errors"

	"banyan/internal/job/agent/wire"
)

// ErrRestarted ends the streams with another side whose place another party has taken.
var ErrRestarted = errors.New("another party has taken the other side's place")

// Restart ends the connection, and all streams but the Outs that stay says. The next connection is
// to another party, which knows none of them: Go on sends what it hasn't got of an Out, once it has
// been told where that begins (Standing). All other streams are made anew.
func (l *Link) Restart(stay func(wire.Stream) bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.conn != nil {
		l.conn.Close()
	}
	for id, i := range l.ins {
		i.gone, i.buf = ErrRestarted, nil
		wake(&i.waiters, i.passed, true)
		i.changed.Broadcast()
		delete(l.ins, id)
	}
	for id, o := range l.outs {
		if stay(id) {
			o.held = true
			continue
		}
		o.gone, o.buf = ErrRestarted, nil
		wake(&o.waiters, o.base, true)
		o.changed.Broadcast()
		delete(l.outs, id)
	}
}

// Standing says from which offset on the bytes of an Out are kept, and whether the other side has
// all of it, with its end, or wants no more.
func (o *Out) Standing() (from uint64, over bool) {
	o.l.mu.Lock()
	defer o.l.mu.Unlock()
	return o.base, o.l.outs[o.id] != o
}

// GoOn sends again, after a Restart.
func (o *Out) GoOn() {
	o.l.mu.Lock()
	defer o.l.mu.Unlock()
	if o.held {
		o.held = false
		o.l.readied(o)
	}
}

// Standing says how many bytes of an In were given to its reader, and whether their end was.
func (i *In) Standing() (taken uint64, ended bool) {
	i.l.mu.Lock()
	defer i.l.mu.Unlock()
	taken = i.passed + i.taken
	if i.ended && taken == i.come {
		return taken - 1, true
	}
	return taken, false
}
