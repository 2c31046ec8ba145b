package rma

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unsafe"

	"banyan/internal/proto"
)

// pieceBytes is how much of an access is carried out at once: heartbeats must not wait. softBytes
// is the same where elements are combined by software.
const (
	pieceBytes = 1 << 20
	softBytes  = 64 << 10
)

// mostOverlapping bounds the answer to a get of more bytes than there are.
const mostOverlapping = 1 << 32

func (t *target) open(w *Window) {
	n := w.comm.Size()
	t.w, t.under, t.wrong = w, map[proto.Rank]*under{}, map[int]string{}
	t.posts, t.ends, t.lockTags, t.left = make([]int, n), make([]int, n), make([]int32, n), make([]bool, n)
	t.lock.Answer = func(member, holder int) {
		// An answer that says who holds it is a refusal.
		t.answer(member, t.lockTags[member], holderText(holder, holder >= 0 && t.left[holder]))
	}
}

// holderText and holderOf are the answer to a request for a lock. left says that the holder has
// left, and hasn't died: who asks may not know yet.
func holderText(holder int, left bool) []byte {
	switch {
	case holder < 0:
		return nil
	case left:
		return fmt.Appendf(nil, "%d left", holder)
	}
	return fmt.Appendf(nil, "%d", holder)
}

func holderOf(text []byte) (holder int, left bool, err error) {
	number, left := strings.CutSuffix(string(text), " left")
	holder, err = strconv.Atoi(number)
	return holder, left, err
}

// answer sends an answer.
func (t *target) answer(member int, tag int32, data []byte) {
	t.w.ear.Send(t.w.comm.Ranks()[member], tag, data)
}

// Hear implements engine.Listener.
func (t *target) Hear(from proto.Rank, data []byte) bool {
	member := t.w.comm.Local(from)
	if member < 0 {
		return true
	}
	u := t.under[from]
	if u == nil {
		var m message
		if err := m.read(data); err != nil {
			if t.wrong[member] = err.Error(); m.verb.answers() {
				t.answer(member, m.answer, nil) // a refusal of what fetches
			}
			return true
		}
		if !m.verb.moves() {
			t.control(member, &m)
			return true
		}
		if u = t.begin(member, m); u == nil {
			return true
		}
		t.under[from] = u
	}
	if !t.goOn(u) {
		return false
	}
	delete(t.under, from)
	if u.verb.answers() {
		t.answer(member, u.answer, u.old)
	}
	*u = under{}
	t.spare = u
	return true
}

// control carries out a message that moves no data.
func (t *target) control(member int, m *message) {
	switch m.verb {
	case flush, unlock:
		if m.verb == unlock {
			t.lock.Release(member)
		}
		t.answer(member, m.answer, []byte(t.wrong[member]))
		delete(t.wrong, member)
	case posted:
		t.posts[member]++
	case completed:
		t.ends[member]++
	case lockShared, lockExclusive:
		if t.w.ear.Lost(t.w.comm.Ranks()[member]) {
			return // it is heard after its death: nobody would give the lock back
		}
		t.lockTags[member] = m.answer
		t.lock.Request(member, m.verb == lockExclusive)
	case leave:
		t.left[member] = true
		t.lock.Gone(member)
	}
}

// begin begins an access. It is nil if the access was refused: then its origin learns of that.
func (t *target) begin(member int, m message) *under {
	u := t.spare
	if t.spare = nil; u == nil {
		u = new(under)
	}
	*u = under{message: m}
	u.all, _ = m.bytes()
	base, err := t.find(&m.place)
	if err != "" {
		if t.wrong[member] == "" {
			t.wrong[member] = err
		}
		if m.verb.answers() {
			t.answer(member, m.answer, nil)
		}
		return nil
	}
	if u.base = base; t.w.led {
		u.base = t.w.public.base()
	}
	if m.verb.answers() {
		u.old = t.w.ear.Buffer(int(u.all))
	}
	if m.verb >= accumulate {
		u.how = m.manner(u.base)
	}
	return u
}

// find is the base of an access to this rank's part, or what is wrong with it.
func (t *target) find(p *place) (base unsafe.Pointer, wrong string) {
	first, length := p.span()
	w := t.w
	if length == 0 {
		return nil, ""
	}
	if n, _ := p.bytes(); n > length && n > mostOverlapping {
		return nil, fmt.Sprintf("a datatype has %d bytes in a memory of %d", n, length)
	}
	if !w.dynamic {
		part := w.memory.Parts[w.comm.Rank()]
		if first < 0 || length < 0 || first > part.Size-length {
			return nil, outside(first, length, w.comm.Rank(), part.Size)
		}
		return part.At, ""
	}
	if t.attached(uintptr(first), length) {
		return nil, ""
	}
	return nil, fmt.Sprintf("%d bytes at %#x, which rank %d hasn't attached", length, uint64(first), w.comm.Rank())
}

// attached tells whether all of some memory is attached, maybe as several regions in a row.
func (t *target) attached(at uintptr, length int64) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	for length > 0 {
		i := slices.IndexFunc(t.regions, func(r region) bool { return at-r.at < r.size })
		if i < 0 {
			return false
		}
		rest := t.regions[i].size - (at - t.regions[i].at)
		if uintptr(length) <= rest {
			return true
		}
		at, length = at+rest, length-int64(rest)
	}
	return false
}

// outside is the text about an access outside of a part.
func outside(first, length int64, rank int, size int64) string {
	return fmt.Sprintf("%d bytes from byte %d on, and rank %d's part has %d bytes", length, first, rank, size)
}

// goOn carries out the next piece, and tells whether that was the last.
func (u *under) goOn() bool {
	piece := int64(pieceBytes)
	if u.verb >= accumulate {
		if u.how == byCopies {
			piece = softBytes
		}
		piece -= piece % u.kind.Size()
	}
	upto := min(u.all, u.done+piece)
	if upto > u.done {
		u.apply(u.base, u.done, upto, u.old, u.how)
	}
	u.done = upto
	return u.done == u.all
}

// whole carries all of it out.
func (u *under) whole() {
	for !u.goOn() {
	}
}

// Lost implements engine.Listener.
func (t *target) Lost(r proto.Rank) {
	if member := t.w.comm.Local(r); member >= 0 {
		t.lock.Gone(member) // an access that is being carried out goes on: it is here as a whole
	}
}
