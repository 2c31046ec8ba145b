package logp

import (
	"banyan/internal/fault"
	"banyan/internal/proto"
	"banyan/internal/trace"
)

// Detailed is a [Network] with more of the model: a gap above the overhead, latencies that
// differ, and processes that crash on the way. Without any of this it does the same as a
// Network, in the same order. It takes about twice as long, since it schedules every event
// separately.
type Detailed struct {
	model  *model
	now    proto.Time
	slab   slab // of all lists
	events schedule
	toSend agenda

	flags     []uint8
	waiting   []list  // messages that arrived while the process couldn't receive
	sendsLeft []int32 // before the process crashes; none: no such plan
	asked     [chunk]int32
	answers   [chunk]Message

	crashed int
	stats   Activity
	trace   *trace.Writer
	tick    func(messages int)
	kinds   *kindCounts // counted if not nil
}

func (d *Detailed) reset(procs int, m *model, failed Set, plan []Crash) {
	d.model, d.now, d.crashed, d.stats = m, 0, 0, Activity{}
	d.slab.reset()
	d.events.slab = &d.slab
	d.events.clear()
	if len(d.flags) != procs {
		d.flags = make([]uint8, procs)
		d.waiting = make([]list, procs)
		d.sendsLeft = make([]int32, procs)
		d.toSend = newAgenda(procs)
	}
	clear(d.flags)
	failed.each(func(p int) { d.flags[p] = isDead })
	for p := range procs {
		d.waiting[p] = emptyList
		d.sendsLeft[p] = none
	}
	for _, c := range plan {
		if c.At.Kind == fault.AtStep {
			d.events.add(proto.Time(c.At.N), crashes, NewMessage(0, c.Proc, 0))
		} else if left := int32(c.At.N - 1); d.sendsLeft[c.Proc] == none || left < d.sendsLeft[c.Proc] {
			d.sendsLeft[c.Proc] = left
		}
	}
}

// run drives the machines until nothing is under way and no deadline is left.
func (d *Detailed) run(m Machines) Activity {
	if d.events.next() == 0 { // only crashes are left
		d.happen(m)
	}
	d.askAll()
	d.send(m)
	for {
		deadline := m.Deadline(d.now)
		d.now = min(d.events.next(), deadline)
		if d.now == proto.Never {
			return d.stats
		}
		if d.events.next() == d.now {
			d.happen(m)
		}
		if d.now == deadline {
			d.askAll()
		}
		d.send(m)
	}
}

// happen handles the events of the next instant.
func (d *Detailed) happen(m Machines) {
	now := d.events.take()
	for stage, events := range now.events {
		for !events.empty() {
			d.handle(m, eventStage(stage), d.slab.pop(&events))
		}
	}
	d.events.release(now)
}

func (d *Detailed) handle(m Machines, stage eventStage, x Message) {
	p := x.To()
	dead := d.flags[p]&isDead != 0
	switch stage {
	case crashes:
		d.crash(p)
	case receiveEnds:
		if dead {
			d.drop(m, x)
		} else {
			d.received(m, x)
		}
	case mayReceive:
		if !dead {
			d.receiveNext(p)
		}
	case arrives:
		switch {
		case dead:
			d.drop(m, x)
		case d.flags[p]&isReceiving != 0:
			d.slab.push(&d.waiting[p], x)
		default:
			d.receive(x)
		}
	case maySend:
		d.flags[p] &^= isSending
		if !dead {
			d.toSend.add(int32(p))
		}
	}
}

// crash ends a process. Messages that it has begun to send are sent; those that it is
// receiving, or that wait for it, are lost.
func (d *Detailed) crash(p int) {
	if d.flags[p]&isDead != 0 {
		return
	}
	d.flags[p] |= isDead
	d.slab.drop(&d.waiting[p])
	d.crashed++
	if d.trace != nil {
		d.trace.Write(trace.Event{Time: d.now, Proc: proto.Proc(p), Event: trace.Dead, Peer: proto.NoProc})
	}
}

func (d *Detailed) drop(m Machines, x Message) {
	d.stats.Lost++
	d.stats.Quiescence = d.now
	if d.trace != nil {
		record(d.trace, m, d.now, trace.Drop, x.To(), x.From(), x.Kind())
	}
}

// receive begins a receive.
func (d *Detailed) receive(x Message) {
	d.flags[x.To()] |= isReceiving
	d.events.add(d.now+d.model.overhead, receiveEnds, x)
	if d.model.gap > d.model.overhead {
		d.events.add(d.now+d.model.gap, mayReceive, x)
	}
}

// received ends a receive.
func (d *Detailed) received(m Machines, x Message) {
	d.stats.Quiescence = d.now
	if d.trace != nil {
		record(d.trace, m, d.now, trace.Receive, x.To(), x.From(), x.Kind())
	}
	d.answers[0] = x
	m.Receive(d.now, d.answers[:1])
	if d.flags[x.To()]&isSending == 0 {
		d.toSend.add(int32(x.To()))
	}
	if d.model.gap == d.model.overhead {
		d.receiveNext(x.To())
	}
}

// receiveNext begins the receive of the message that has waited longest.
func (d *Detailed) receiveNext(p int) {
	if w := &d.waiting[p]; !w.empty() {
		d.receive(d.slab.pop(w))
	} else {
		d.flags[p] &^= isReceiving
	}
}

// askAll puts all live processes that could send on the agenda.
func (d *Detailed) askAll() {
	for p, f := range d.flags {
		if f&(isSending|isDead) == 0 {
			d.toSend.add(int32(p))
		}
	}
}

// send begins the next sends of the processes on the agenda that have one.
func (d *Detailed) send(m Machines) {
	for next := 0; next >= 0; {
		var asked []int32
		asked, next = d.toSend.take(next, d.asked[:0])
		for _, x := range m.Send(d.now, asked, d.answers[:0]) {
			p := x.From()
			if d.sendsLeft[p] == 0 {
				d.crash(p)
				continue
			}
			if d.sendsLeft[p] > 0 {
				d.sendsLeft[p]--
			}
			d.begin(m, x)
		}
	}
}

// begin begins one send.
func (d *Detailed) begin(m Machines, x Message) {
	d.flags[x.From()] |= isSending
	d.events.add(d.now+d.model.gap, maySend, NewMessage(0, x.From(), 0))
	d.events.add(d.now+d.model.overhead+d.model.travel(x), arrives, x)
	d.stats.Messages++
	if d.kinds != nil {
		d.kinds[x.Kind()]++
	}
	if d.tick != nil && d.stats.Messages%progressEvery == 0 {
		d.tick(d.stats.Messages)
	}
	if d.trace != nil {
		record(d.trace, m, d.now, trace.Send, x.From(), x.To(), x.Kind())
	}
}
