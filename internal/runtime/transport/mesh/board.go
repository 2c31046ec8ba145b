package mesh

import (
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"banyan/internal/proto"
	"banyan/internal/runtime/transport"
	"banyan/internal/runtime/transport/shm"
)

// link is how far the connection with a peer has come.
type link uint8

const (
	idle    link = iota
	dialled      // a goroutine of ours is at it
	up           // one was made
	over         // it has ended, or can't be made; there is no second one
	fenced       // by this side
)

// news is what a background goroutine tells the transport's owner.
type news struct {
	peer        proto.Proc
	incarnation proto.Incarnation // the peer's that it is about
	kind        newsKind
	via         medium             // connected: now the owner's
	end         handle             // connected: the peer's process
	why         transport.Evidence // ended
}

type newsKind uint8

const (
	connected newsKind = iota
	quiet              // of a dead peer nothing has come for a while
	ended
)

// medium is what a connection consists of.
type medium struct {
	fd   int       // a socket
	link *shm.Link // if there is one it carries the frames, and the socket only tells of the end
	pid  int       // the peer's, where there is a link
}

func (m medium) close() {
	unix.Close(m.fd)
	if m.link != nil {
		m.link.Close()
	}
}

// handle is how a peer's process is watched.
type handle struct {
	pidfd  int  // -1 if it can't be
	exited bool // it has ended already
}

func (h handle) close() {
	if h.pidfd >= 0 {
		unix.Close(h.pidfd)
	}
}

// discard frees what news of a connection hold, if nobody takes it.
func (n news) discard() {
	if n.kind == connected {
		n.via.close()
		n.end.close()
	}
}

// board is what the owner and the background goroutines (dials, handshakes,
// inquests) share: the state of each link, on which alone they decide, and the
// news.
//
// Of two crossing dials the lower Proc's wins. Only the lower end decides: once
// it dials, it refuses the other's connection, and it doesn't dial once it has
// accepted one. The higher end always accepts. Each link is made once.
type board struct {
	self proto.Proc
	ring func() // after news

	fresh atomic.Bool // there is news

	mu           sync.Mutex
	links        []link
	incarnations []proto.Incarnation // the incarnation of each peer that is let in
	excluded     time.Time           // when a peer was fenced last that isn't certainly dead
	settle       time.Duration       // without another one, until the standing counts
	list         []news
}

func newBoard(self proto.Proc, incarnations []proto.Incarnation, settle time.Duration, ring func()) *board {
	return &board{self: self, ring: ring, links: make([]link, len(incarnations)), incarnations: incarnations, settle: settle}
}

// startDial says whether a dial may start, and that it does.
func (b *board) startDial(p proto.Proc) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.links[p] != idle {
		return false
	}
	b.links[p] = dialled
	return true
}

// dialling says whether a dial is still needed.
func (b *board) dialling(p proto.Proc, incarnation proto.Incarnation) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.links[p] == dialled && b.incarnations[p] == incarnation
}

// finishDial makes a dial's outcome the link's, and passes it on; false if it
// isn't needed any more.
func (b *board) finishDial(n news) bool {
	b.mu.Lock()
	if b.links[n.peer] != dialled || b.incarnations[n.peer] != n.incarnation {
		b.mu.Unlock()
		return false
	}
	b.links[n.peer] = up
	if n.kind == ended {
		b.links[n.peer] = over
	}
	b.mu.Unlock()
	b.post(n)
	return true
}

// judge is the verdict on a peer that has dialled. Once accepted, the link is
// up: the connection has to be posted.
func (b *board) judge(from proto.Proc, incarnation proto.Incarnation, why purpose) verdict {
	b.mu.Lock()
	defer b.mu.Unlock()
	if from < 0 || int(from) >= len(b.links) || from == b.self {
		return goneHere
	}
	switch l := b.links[from]; {
	case incarnation < b.incarnations[from]:
		return eviction
	case incarnation > b.incarnations[from]:
		return unknown
	case why == toTell:
		return heeded
	case l == fenced:
		return eviction
	case l == over || why != toConnect:
		return goneHere
	case l == up:
		return duplicate
	case l == dialled && b.self < from:
		return crossing
	}
	b.links[from] = up
	return accepted
}

// retract takes back an acceptance of which the peer hasn't heard: a dial of this side's begins. false if that
// isn't needed any more.
func (b *board) retract(p proto.Proc, incarnation proto.Incarnation) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.links[p] != up || b.incarnations[p] != incarnation {
		return false
	}
	b.links[p] = dialled
	return true
}

// fence is for peers that the owner fenced. Those that have ended for certain
// don't tell of a partition.
func (b *board) fence(p proto.Proc, certain bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.links[p] = fenced
	if !certain {
		b.excluded = time.Now()
	}
}

// set is for ends that the owner saw or made. A fence stays.
func (b *board) set(p proto.Proc, l link) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.links[p] != fenced {
		b.links[p] = l
	}
}

// post passes news on.
func (b *board) post(n news) {
	b.mu.Lock()
	b.list = append(b.list, n)
	b.fresh.Store(true)
	b.mu.Unlock()
	b.ring()
}

// take appends the news to dst.
func (b *board) take(dst []news) []news {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.fresh.Store(false)
	dst = append(dst, b.list...)
	clear(b.list)
	b.list = b.list[:0]
	return dst
}
