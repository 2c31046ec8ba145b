package window

import "banyan/internal/proto/locks"

// FarLock is the lock of this member's part in a window whose members aren't all on one host: they
// ask for it by messages. It is the driver of package locks.
type FarLock struct {
	// Answer is called for each answer to a member. holder is -1 if the lock is the member's;
	// else the part is abandoned, by that one.
	Answer func(member, holder int)

	m   locks.Machine
	out locks.Actions
}

// Request asks for the lock.
func (l *FarLock) Request(member int, exclusive bool) {
	l.m.Request(member, exclusive, &l.out)
	l.run()
}

// Release gives the lock back.
func (l *FarLock) Release(member int) {
	l.m.Release(member, &l.out)
	l.run()
}

// Gone says that a member is dead, or leaves with its locks.
func (l *FarLock) Gone(member int) {
	l.m.Gone(member, &l.out)
	l.run()
}

func (l *FarLock) run() {
	for _, a := range l.out {
		holder := -1
		if a.Kind == locks.Refuse {
			holder = a.Holder
		}
		l.Answer(a.Member, holder)
	}
	l.out = l.out[:0]
}
