package spares

import (
	"fmt"
	"slices"
	"time"

	"banyan/internal/job/control"
	"banyan/internal/job/recovery"
	"banyan/internal/layout"
	"banyan/internal/proto"
)

const (
	// arrival is how long a spare leader waits for the first process of the job to come, and the first one for the other
	// spares; absence for one to come back when the last has gone without leaving in order.
	arrival = 5 * time.Second
	absence = 2 * time.Second

	// livesInTurn is how many lives of a place a spare leader can give away that no other gives.
	livesInTurn = 256
)

// ActionKind says what an Action is.
type ActionKind uint8

// Kinds of actions.
const (
	Send ActionKind = iota // Message to the guest To
	Drop                   // the guest To
	Note                   // Text, for the user
	End                    // the job is over: the other spares have been told, and this one ends last, with Code, because of Text
	Urge                   // this spare is itself to go on to the turn Turn
)

// Action is something that the spare leader wants done.
type Action struct {
	Kind    ActionKind
	To      int
	Message control.Message
	Text    string
	Code    int
	Turn    uint64
}

// guest is a connection: a process of the job, a spare, or one that hasn't said which.
type guest struct {
	id          int
	station     proto.Proc // its rank in the launcher's eyes, which it has proved
	spare       bool       // it waits for a place
	member      bool       // it has one: proc, in incarnation life
	proc        proto.Proc
	incarnation proto.Incarnation
	pid         int
	program     uint64
	turn        uint64     // which it takes the present one to be, maxTurn before it has said so
	heard       proto.Time // when it last said anything
}

// seat is a place in the job.
type seat struct {
	guest  *guest            // nil: it isn't connected, or dead
	known  proto.Incarnation // the last incarnation that anybody was told of
	feared proto.Incarnation // so many incarnations somebody holds for dead
	ended  proto.Incarnation // so many are
	left   bool              // in order
	card   string            // of the incarnation that is known, if not 0
}

// who is what package recovery knows of a member.
func (g *guest) who() recovery.Process {
	return recovery.Process{Proc: g.proc, Incarnation: g.incarnation}
}

func (s *seat) dead() bool { return s.ended > s.known }

// Machine decides as a spare leader. It has no clock and no connections: guests are numbers, those
// of a higher number came later.
type Machine struct {
	self        proto.Proc // this spare's station
	layout      layout.Layout
	silence     proto.Time // after which a spare leader counts as gone
	healing     *recovery.Machine
	replacement *guest // whom the present attempt is about
	turn        uint64
	reigns      bool
	later       uint64     // the last turn that anybody has said has begun
	beat        proto.Time // when the next sign of life is due
	resumed     proto.Time // nothing is begun before
	whole       proto.Time // when last all were here who live, or the patience with that began
	seen        []bool     // by spare: it has been here in this turn
	gathered    proto.Time // when the patience with those that haven't ends
	guests      []*guest   // in the order in which they came
	seats       []seat     // by Proc
	programs    []int64    // by rank: which of the job's it runs, -1 if nobody has said
	told        map[string]bool
	notes       []string   // for the user, before this is the spare leader
	came        bool       // a process of the job was here in this turn
	met         bool       // in any
	departed    bool       // one has left in order
	empty       proto.Time // when the patience with nobody being here ends
	over        bool
	now         proto.Time
	out         *[]Action
}

// New makes the machine of the spare at a station, one of so many, which may become the spare leader. A spare leader that is silent for
// so long counts as gone. limit is package recovery's.
func New(self proto.Proc, layout layout.Layout, spares int, silence, limit time.Duration) *Machine {
	m := &Machine{
		self: self, layout: layout, silence: proto.Time(silence), seen: make([]bool, spares), healing: recovery.New(layout, limit, false), seats: make([]seat, layout.Procs()),
		programs: make([]int64, layout.Ranks()), told: map[string]bool{}, empty: proto.Never,
	}
	for r := range m.programs {
		m.programs[r] = -1
	}
	return m
}

// Turn says which turn this spare takes the present one to be. It is the spare leader if that is one of its own.
func (m *Machine) Turn(now proto.Time, turn uint64, out *[]Action) {
	m.at(now, out)
	if m.over || m.reigns && turn == m.turn {
		return
	}
	m.turn = turn
	m.abdicate() // even if this turn is its own again: there were others between
	for i := range m.seen {
		m.seen[i] = slices.ContainsFunc(m.guests, func(g *guest) bool { return (g.spare || g.member) && m.number(g) == i })
	}
	if turn%uint64(len(m.seen)) == uint64(int(m.self)-m.layout.Procs()) {
		m.reign()
	}
}

// reign begins a turn of its own.
func (m *Machine) reign() {
	m.reigns = true
	m.healing.NumberFrom(proto.Incarnation(min(m.turn*livesInTurn, maxIncarnation)))
	m.beat, m.gathered = m.now+m.silence/beats, m.now+proto.Time(arrival)
	m.whole = m.gathered
	if m.turn > 0 { // everybody has long started
		m.whole, m.gathered = m.now, m.now+m.silence
	}
	if m.empty != proto.Never { // from an earlier turn: they may be on their way
		m.empty = max(m.empty, m.now+m.patience()/2)
	}
	for _, text := range m.notes {
		m.note(text)
	}
	m.notes = nil
	m.occupied()
	m.next()
}

// abdicate ends such a turn, if there was one, and sends on who is of an earlier one. If this process was stopped they may have said, and left,
// more than it has read: then they are sent on when they next say which turn they take it to be.
func (m *Machine) abdicate() {
	m.heals(func(out *[]recovery.Action) { m.healing.StepDown(succeeded, out) })
	m.reigns, m.came = false, false // how long nobody has been here goes on
	for _, g := range slices.Clone(m.guests) {
		if g.turn < m.turn && m.now >= m.resumed {
			m.sendOn(g)
		}
	}
}

// gathering says whether spares may yet come that no spare leader before has seen.
func (m *Machine) gathering() bool { return m.turn < uint64(len(m.seen)) && m.awaits() }

// awaits says whether spares may yet come. The last spare leader, and in the first round all before this one, have been found gone. At the job's end
// the others are waited for in any turn: nobody else could tell them.
func (m *Machine) awaits() bool {
	if m.now >= m.gathered {
		return false
	}
	for i, seen := range m.seen {
		spare, spares := uint64(i), uint64(len(m.seen))
		gone := spare < m.turn && m.turn < spares || m.turn > 0 && spare == (m.turn-1)%spares
		if !seen && !gone {
			return true
		}
	}
	return false
}

// number is which of the spares a guest was at first, if it was one.
func (m *Machine) number(g *guest) int { return int(g.station) - m.layout.Procs() }

// patience is how long a spare leader waits for who is not here, and isn't dead, before it looks for them.
func (m *Machine) patience() proto.Time { return min(2*m.silence, proto.Time(arrival)/2) }

// search goes on to the next turn, with all who are here, if some who live stay away: they may be with another
// spare leader, of whom nobody here knows. Each spare on the way, if it is one of theirs, brings the two together.
func (m *Machine) search() {
	switch {
	case m.healing.Current() != nil || m.healing.IsOver() || m.complete():
		m.whole = m.now
	case m.now-m.whole > m.patience() && m.later <= m.turn:
		m.later = m.turn + 1
		*m.out = append(*m.out, Action{Kind: Urge, Turn: m.later})
	}
}

// sendOn sends a guest to the next spare leader.
func (m *Machine) sendOn(g *guest) {
	if g.member && m.seats[g.proc].guest == g {
		m.seats[g.proc].guest = nil
	}
	m.drop(g)
}

// Opened takes a new guest.
func (m *Machine) Opened(id int, station proto.Proc) {
	m.guests = append(m.guests, &guest{id: id, station: station, proc: proto.NoProc, turn: maxTurn})
}

// Closed says that a guest's connection has ended.
func (m *Machine) Closed(now proto.Time, id int, out *[]Action) {
	m.at(now, out)
	g := m.forget(id)
	if g == nil {
		return
	}
	if m.joining(g) {
		m.fail("it has ended")
	}
	if g.member && m.seats[g.proc].guest == g {
		m.seats[g.proc].guest = nil
		m.judge(g.proc)
	}
	m.occupied()
	m.next()
}

// Deadline is when Tick has to be called next, or Never.
func (m *Machine) Deadline() proto.Time {
	if !m.reigns || m.over {
		return proto.Never
	}
	deadline := min(m.empty, m.beat, m.healing.Deadline())
	if m.awaits() {
		deadline = min(deadline, m.gathered)
	}
	return deadline
}

// Tick lets time pass.
func (m *Machine) Tick(now proto.Time, out *[]Action) {
	m.at(now, out)
	if !m.reigns || m.over {
		return
	}
	if now >= m.beat {
		m.beat = now + m.silence/beats
		for _, g := range m.guests {
			m.send(g, control.Message{Type: control.Turn, Number: m.turn})
		}
	}
	if m.healing.Current() != nil && now-m.replacement.heard > m.silence+m.silence/beats {
		m.fail(fmt.Sprintf("it was silent for %v", time.Duration(m.silence)))
	}
	m.heals(func(out *[]recovery.Action) { m.healing.Tick(now, out) })
	m.occupied()
	m.next()
	m.search()
	switch {
	case now < m.empty || m.over:
	case m.departed:
		m.end(0, "")
	case m.met:
		m.end(1, "no process of the job is left, and none has left in order")
	default:
		m.end(1, "no process of the job is there")
	}
}

func (m *Machine) at(now proto.Time, out *[]Action) {
	m.now, m.out = now, out
	if m.reigns && now > m.beat+m.silence/beats { // this process was stopped: others may have gone on, and have said so
		m.beat, m.resumed = now, now+m.silence/beats
		if m.empty != proto.Never { // who waited before its door meanwhile hasn't been let in yet
			m.empty = max(m.empty, now+m.patience()/2)
		}
		for _, g := range m.guests {
			g.heard = now
		}
	}
}

func (m *Machine) find(id int) *guest {
	if i := slices.IndexFunc(m.guests, func(g *guest) bool { return g.id == id }); i >= 0 {
		return m.guests[i]
	}
	return nil
}

// forget takes a guest out.
func (m *Machine) forget(id int) *guest {
	g := m.find(id)
	m.guests = slices.DeleteFunc(m.guests, func(g *guest) bool { return g.id == id })
	return g
}

// drop sends a guest away.
func (m *Machine) drop(g *guest) {
	if m.forget(g.id) != nil {
		*m.out = append(*m.out, Action{Kind: Drop, To: g.id})
	}
}

func (m *Machine) send(g *guest, message control.Message) {
	*m.out = append(*m.out, Action{Kind: Send, To: g.id, Message: message})
}

// tell sends a message to all processes of the job.
func (m *Machine) tell(message control.Message) {
	for _, g := range m.guests {
		if g.member || m.joining(g) {
			m.send(g, message)
		}
	}
}

// note tells the user something, once this is the spare leader.
func (m *Machine) note(text string) {
	switch {
	case text == "":
	case !m.reigns:
		m.notes = append(m.notes, text)
	default:
		*m.out = append(*m.out, Action{Kind: Note, Text: text})
	}
}

// once tells the user something that several might say, or that is so again and again.
func (m *Machine) once(text string) {
	if !m.told[text] {
		m.told[text] = true
		m.note(text)
	}
}

// occupied looks whether anybody of the job is here, and whether anybody may yet come.
func (m *Machine) occupied() {
	if !m.reigns || m.over {
		return
	}
	here, expected := false, false
	for i := range m.seats {
		s := &m.seats[i]
		here = here || s.guest != nil
		expected = expected || !s.left && !s.dead()
	}
	switch {
	case here:
		m.came, m.met, m.empty = true, true, proto.Never
	case !expected && m.departed && m.awaits():
		m.empty = max(m.now, m.gathered)
	case !expected && m.departed:
		m.end(0, "")
	case !expected:
		m.end(1, "all processes of the job are dead")
	case m.empty == proto.Never && (m.came || m.departed):
		m.empty = m.now + proto.Time(absence)
	case m.empty == proto.Never:
		m.empty = m.now + proto.Time(arrival)
	}
}

// end ends the job for all who have no place in it.
func (m *Machine) end(code int, text string) {
	m.over = true
	for _, g := range m.guests {
		if !g.member && g.station != m.self { // also a replacement under way
			m.send(g, control.Message{Type: control.Dismissed, Code: code, Text: text})
		}
	}
	*m.out = append(*m.out, Action{Kind: End, Code: code, Text: text})
}

// name names a process for people.
func (m *Machine) name(p proto.Proc) string {
	return fmt.Sprintf("%v replica %d", m.layout.Rank(p), m.layout.Replica(p))
}
