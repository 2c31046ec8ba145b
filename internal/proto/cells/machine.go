package cells

// Pattern says which members give data in a call and which take it.
type Pattern uint8

// The patterns.
const (
	All      Pattern = iota // every member gives, and takes from every other one
	FromRoot                // the root gives, all others take
	ToRoot                  // all but the root give, the root takes
	Agree                   // as All, and all that live have the same outcome: Done or Undecided
)

const (
	// MaxSize is the largest number of members.
	MaxSize = 64
	// MaxDepth is the largest number of cells of a member.
	MaxDepth = 8
	// NoteBits is the length of a note.
	NoteBits = 17
)

// The word of a cell: the number of the call, the note, and the bit that closes the cell.
const (
	closedBit   = 1
	NoteShift   = 1
	NumberShift = NoteShift + NoteBits
)

// Op is what an Access does.
type Op uint8

// The accesses. Member and Cell say where. Those with a result hand it to Machine.Result.
const (
	End       Op = iota // none: the call has ended, see Outcome
	Claim               // store Value in the turn of the cell
	Write               // write the data into the cell
	Publish             // replace Old by Value in the cell's word, if Old is there; result: 1 if it was, or 0
	AwaitWord           // load the cell's word
	AwaitDone           // load the member's done
	Close               // as Publish, but the word of another member
	Read                // read the data of all that this member takes from
	Check               // load the turn of the cell
	Finish              // store Value in this member's done
	Sleepers            // load sleepers
	Waits               // load the member's waits
	Look                // load the word of the member's cell
	Notify              // wake the member, if it sleeps; no memory
	Announce            // store Value in this member's waits
	LieDown             // set the bits Value in sleepers
	Sleep               // sleep until notified, or until a death is known; no memory
	GetUp               // clear the bits Value in sleepers
)

// Access is one access to the shared memory, or what the driver does besides.
type Access struct {
	Op         Op
	Member     int
	Cell       int
	Old, Value uint64
}

// Outcome is how a call has ended.
type Outcome uint8

// The outcomes.
const (
	Done      Outcome = iota
	Lost              // Machine.Culprit is dead
	Fenced            // the others take this member for dead, and have gone on
	Mismatch          // Machine.Culprit means another call
	Undecided         // of Agree: one that is dead, or taken for dead, gives nothing
)

// fault breaks the machine on purpose, to see that tests notice.
type fault uint8

const (
	noFault          fault = iota
	noRoom                 // reuses cells without looking
	noClose                // ends with a loss without closing
	noCheck                // doesn't look at the turn again
	noSecondLook           // sleeps without looking once more
	silentSleep            // sleeps without saying what it has completed
	lastIsQuiet            // wakes nobody that waits for all
	firstIsForgotten       // wakes nobody by way of member 0
	claimLate              // writes the data before the turn
	allAnyway              // relies on member 0 in agreements although somebody is dead
)

// Machine is one member's part in the calls of a communicator.
type Machine struct {
	self, size, depth int
	fault             fault

	Progress
	gone uint64 // a bit for each member that is dead or has left

	pattern Pattern
	root    int
	note    uint64
	data    bool

	at       Op   // the access that is due
	after    Op   // what follows it, where that isn't clear from at
	lying    bool // this member's bit in sleepers is set
	dozing   bool // it tells what it has completed before it sleeps
	member   int  // the one that this member waits for, or reads from
	sleeper  int  // the one that it looks at, whether to wake it
	looked   int  // while it looks whether all have given: at whom it looks
	complete tri  // what came of that
	old      uint64
	least    uint64 // while it looks for room: the least done seen
	bits     uint64 // sleepers to look at
	outcome  Outcome
	culprit  int
	mismatch bool
}

// New makes a member's machine.
func New(self, size, depth int) *Machine {
	if size > MaxSize || depth < 2 || depth > MaxDepth {
		panic("cells: a number of members or cells that isn't possible")
	}
	return &Machine{self: self, size: size, depth: depth}
}

// Begin starts the next call. note has NoteBits bits; root counts only where there is one. data
// says that there are data in it; a call without is only waited for.
func (m *Machine) Begin(p Pattern, root int, note uint64, data bool) {
	m.call++
	m.pattern, m.root, m.note, m.data = p, root, note, data
	m.mismatch = false
	stage := m.resume()
	if m.outcome == Fenced {
		m.at = End
		return
	}
	m.outcome = Done
	switch {
	case stage == Taken:
		m.finish()
	case p != FromRoot && p != Agree && m.gone != 0:
		m.lose(m.firstGone())
	case m.gives() && stage == Given:
		m.gave()
	case m.gives():
		m.seekRoom()
	default:
		m.await()
	}
}

// Gone notes that a member is dead, or has left.
func (m *Machine) Gone(member int) {
	if m.gone |= 1 << member; m.at == LieDown {
		m.at = Announce // what it needs may be something else now
	}
}

// IsGone tells whether Gone has been called for a member.
func (m *Machine) IsGone(member int) bool { return m.gone&(1<<member) != 0 }

// Outcome is how the call has ended, and the member that the outcome concerns.
func (m *Machine) Outcome() (o Outcome, culprit int) { return m.outcome, m.culprit }

// Call is the number of the current call.
func (m *Machine) Call() uint64 { return m.call }

// Cell is the index of the cells of the current call.
func (m *Machine) Cell() int { return int(m.call % uint64(m.depth)) }

// all tells whether every member gives, and takes from every other one.
func (m *Machine) all() bool { return m.pattern == All || m.pattern == Agree }

func (m *Machine) gives() bool {
	return m.all() || (m.self == m.root) == (m.pattern == FromRoot)
}

func (m *Machine) takes() bool {
	return m.all() || (m.self == m.root) == (m.pattern == ToRoot)
}

func (m *Machine) firstGone() int {
	i := 0
	for m.gone&(1<<i) == 0 {
		i++
	}
	return i
}

// Next is the access that is due.
func (m *Machine) Next() Access {
	a := Access{Op: m.at, Member: m.self, Cell: m.Cell()}
	switch m.at {
	case Claim, Finish:
		if a.Value = m.call; m.dozing {
			a.Value--
		}
	case Publish:
		a.Old, a.Value = m.words[a.Cell], m.word()
	case AwaitWord, AwaitDone, Check, Sleep:
		a.Member = m.member
	case Waits, Notify:
		a.Member = m.sleeper
	case Look:
		a.Member = m.looked
	case Close:
		a.Member, a.Old, a.Value = m.member, m.old, m.old|closedBit
	case Announce:
		a.Value = m.needs()
	case LieDown, GetUp:
		a.Value = 1 << m.self
	}
	return a
}

// word is what this member publishes.
func (m *Machine) word() uint64 { return m.call<<NumberShift | m.note<<NoteShift }

// Result says that the access that was due has been carried out, and what it read. It returns
// false if the same one is due again, since what this member waits for isn't there.
func (m *Machine) Result(value uint64) bool {
	switch m.at {
	case Claim:
		m.at = Write
		if m.fault == claimLate {
			m.at = Publish
		}
	case Write:
		m.at = Publish
		if m.fault == claimLate {
			m.at = Claim
		}
	case Publish:
		m.published(value)
	case AwaitWord:
		return m.heard(value)
	case AwaitDone:
		return m.sawDone(value)
	case Close:
		m.at = AwaitWord // whatever came of it, the word says more
	case Read:
		m.member = m.first()
		m.at = Check
		if m.fault == noCheck {
			m.finish()
		}
	case Check:
		m.checked(value)
	case Finish:
		m.at = Sleepers
	case Sleepers:
		m.bits, m.complete = value&^(1<<m.self), unknown
		m.nextSleeper()
	case Waits:
		m.sleeps(value)
	case Look:
		m.sawWord(value)
	case Notify:
		m.nextSleeper()
	case Announce:
		m.at = LieDown
	case LieDown:
		m.lying, m.at = true, m.after
		if m.fault == noSecondLook {
			m.at = Sleep
		}
	case Sleep:
		m.at = GetUp
	case GetUp:
		m.lying, m.at = false, m.after
	}
	return true
}

// first is the member that this one waits for first.
func (m *Machine) first() int {
	if m.pattern == FromRoot {
		return m.root
	}
	return (m.self + 1) % m.size
}

// later moves on to the next member to take from; false: that was the last.
func (m *Machine) later() bool {
	if m.pattern == FromRoot {
		return false
	}
	m.member = (m.member + 1) % m.size
	return m.member != m.self
}

// await begins to take.
func (m *Machine) await() {
	if m.member = m.first(); m.member == m.self { // it is alone
		m.finish()
		return
	}
	m.at = AwaitWord
}

// heard looks at the word of a member from which this one takes.
func (m *Machine) heard(word uint64) bool {
	number := word >> NumberShift
	switch {
	case number < m.call && word&closedBit != 0:
		return m.rises() || m.lose(m.member)
	case number < m.call && m.closes() && m.IsGone(m.member):
		if m.rises() {
			return true
		}
		if m.fault == noClose {
			return m.lose(m.member)
		}
		m.old, m.at = word, Close
		return true
	case number < m.call && !m.closes() && m.gone != 0:
		return m.rises() || m.lose(m.firstGone())
	case number < m.call:
		return m.stay()
	}
	if m.rises() {
		return true
	}
	if number > m.call {
		m.outcome, m.at = Fenced, End
		return true
	}
	if Note(word) != m.note && !m.mismatch {
		m.mismatch, m.culprit = true, m.member
	}
	switch {
	case m.later():
	case m.data && !m.mismatch:
		m.at = Read
	default:
		m.finish()
	}
	return true
}

func (m *Machine) checked(turn uint64) {
	switch {
	case turn != m.call:
		m.outcome, m.at = Fenced, End
	case !m.later():
		m.finish()
	}
}

// finish ends a call in which this member has heard all that it waits for.
func (m *Machine) finish() {
	if m.mismatch {
		m.outcome = Mismatch
	}
	if m.all() && !m.mismatch {
		m.floor = m.call - 1 // each member that has given has completed the calls before
		m.at = Sleepers
		return
	}
	m.at = Finish
}

// closes tells whether a member that waits for a dead one closes that one's word.
func (m *Machine) closes() bool { return m.pattern == FromRoot || m.pattern == Agree }

// lose ends a call because a member is dead.
func (m *Machine) lose(member int) bool {
	m.outcome, m.culprit, m.at = Lost, member, Finish
	if m.pattern == Agree {
		m.outcome = Undecided
	}
	return true
}

// Note is the note in a word.
func Note(word uint64) uint64 { return word >> NoteShift & (1<<NoteBits - 1) }
