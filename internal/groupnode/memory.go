package groupnode

import (
	"fmt"
	"hash/fnv"
	"time"

	"banyan/internal/groupnode/store"
	"banyan/internal/proto"
	"banyan/internal/proto/founding"
	"banyan/internal/proto/membership"
)

// memory is what this process keeps on disk of its group, if it has a directory for it.
type memory struct {
	dir    *store.Dir // nil: nothing is kept
	record store.Record
	view   *membership.View // as the record has it
	next   *membership.View
	busy   bool // the record is on its way to the disk
	since  proto.Time
	done   chan error // of the write
}

// openMemory opens the directory of a Config.
func openMemory(path string) (mem memory, err error) {
	if path == "" {
		return mem, nil
	}
	if mem.dir, mem.record, err = store.OpenDir(path, store.ID(newNonce())); err != nil {
		return mem, wrong("Dir", "%w", err)
	}
	return mem, nil
}

// close gives the directory back. If a write doesn't end, it does so when the write has.
func (mem *memory) close() {
	if mem.dir == nil {
		return
	}
	dir, done := mem.dir, mem.done
	if mem.busy {
		select {
		case <-done:
		case <-time.After(shutdownLimit):
			go func() { <-done; dir.Close() }()
			return
		}
	}
	dir.Close()
}

// token is that of the last view; 0 if there was none.
func (mem *memory) token() uint64 {
	if mem.record.View == nil {
		return mem.record.Base // a view that was left has had a lower one than the next founding
	}
	return mem.record.Base + mem.record.View.Number
}

// members are those of the last view, and of the one accepted as the next.
func (mem *memory) members() []store.Member {
	if mem.record.View == nil {
		return nil
	}
	list := mem.record.View.Members
	if mem.record.Next != nil {
		list = append(list[:len(list):len(list)], mem.record.Next.Members...)
	}
	return list
}

// candidate is what the memory means for the founding of the group.
func (mem *memory) candidate() (m founding.Memory, needed []founding.Needed) {
	r := &mem.record
	if r.View == nil {
		return m, nil
	}
	m = founding.Memory{Founding: founding.ID(r.Founding), Token: mem.token()}
	if r.Next != nil {
		digest := fnv.New64a()
		for _, x := range r.Next.Members {
			digest.Write(append([]byte(x.Name), x.Node[:]...))
		}
		m.Next = digest.Sum64() | 1
	}
	for _, x := range mem.members() {
		needed = append(needed, founding.Needed{Node: founding.ID(x.Node), Name: x.Name})
	}
	return m, needed
}

// remembered says whether the memory has kept up with the machine, and otherwise makes it. A view
// is kept once it is in force, and one with joiners before this member accepts it: see package
// founding. So nothing that the machine asks for is carried out before. The disk is written in the
// background: it may take longer than a time-out, and this member's heartbeats must go on.
func (m *Member) remembered() bool {
	mem := &m.memory
	if mem.dir == nil || m.machine == nil || m.ended != nil {
		return true
	}
	view, next := m.machine.View(), m.machine.Accepted()
	if next != nil && len(next.Joined) == 0 {
		next = nil
	}
	if mem.busy || view == mem.view && next == mem.next {
		return !mem.busy
	}
	r := &mem.record
	r.Group, r.Founding, r.Base = m.cfg.Group, store.ID(m.founding.ID), m.founding.Base
	r.View, r.Next = m.kept(view), m.kept(next)
	mem.view, mem.next, mem.busy, mem.since, mem.done = view, next, true, m.now, make(chan error, 1)
	record, done := *r, mem.done
	go func() {
		if m.cfg.slowDisk != nil {
			m.cfg.slowDisk()
		}
		done <- mem.dir.Write(record)
		m.post(func() {
			mem.busy = false
			m.written(<-done)
			m.settle()
		})
	}()
	return false
}

// diskLimit is how long a write may take. The group's next view waits for it. A busy machine's disk
// takes seconds at times.
func (c *Config) diskLimit() proto.Time {
	return 5 * proto.Time(max(c.Timeout, c.diskStall/5))
}

// diskDeadline is when this member gives the disk up.
func (m *Member) diskDeadline() proto.Time {
	if !m.memory.busy {
		return proto.Never
	}
	return m.memory.since + m.cfg.diskLimit()
}

// forgetGroup is called when this member has left: it has no part in what becomes of the group.
func (m *Member) forgetGroup() {
	if m.memory.dir != nil {
		m.memory.record.View, m.memory.record.Next = nil, nil
		m.memory.record.Base += 1 << 32
		m.written(m.memory.dir.Write(m.memory.record))
	}
}

// written ends the member if the disk has failed.
func (m *Member) written(err error) {
	if err != nil {
		m.log.Error("this member ends: what it has to remember can't be written", "err", err)
		m.finish(fmt.Errorf("what this member has to remember can't be written: %w", err))
	}
}

// kept is what is kept of a view.
func (m *Member) kept(v *membership.View) *store.View {
	if v == nil {
		return nil
	}
	k := &store.View{Number: v.Number}
	for _, x := range v.Members {
		c := m.cards[x]
		k.Members = append(k.Members, store.Member{Name: c.Name, Address: c.Address, Node: store.ID(c.Node)})
	}
	return k
}
