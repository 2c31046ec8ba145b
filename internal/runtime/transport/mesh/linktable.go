package mesh

import (
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"banyan/internal/proto"
	"banyan/internal/runtime/seal"
	"banyan/internal/runtime/transport"
	"banyan/internal/runtime/transport/shm"
)

// linkState is how far the connection with a peer has come.
type linkState uint8

const (
	linkIdle    linkState = iota // nobody has dialled yet
	linkDialled                  // a goroutine of this process dials
	linkUp                       // a connection was made
	linkOver                     // it has ended, or can't be made; there is no second one
	linkFenced                   // this side has fenced the peer
)

// news is what a background goroutine reports to the transport's owner.
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
	quiet              // nothing has come from a dead peer for a while
	ended
)

// medium is what a connection consists of.
type medium struct {
	fd   int        // a socket
	link *shm.Link  // if not nil it carries the frames, and the socket only tells of the end
	pid  int        // the peer's, where there is a link
	keys *seal.Keys // if not nil, what goes over the socket is sealed
}

func (m medium) close() {
	unix.Close(m.fd)
	if m.link != nil {
		m.link.Close()
	}
}

// handle is how a peer's process is watched.
type handle struct {
	pidfd  int  // -1 if it can't be watched
	exited bool // it has ended already
}

// ended says whether the process has certainly ended.
func (h handle) ended() bool { return h.exited || h.pidfd >= 0 && exits(h.pidfd, 0) }

func (h handle) close() {
	if h.pidfd >= 0 {
		unix.Close(h.pidfd)
	}
}

// discard closes what news of a connection hold, if the owner doesn't take it.
func (n news) discard() {
	if n.kind == connected {
		n.via.close()
		n.end.close()
	}
}

// linkTable is what the owner and the background goroutines (dials, handshakes, liveness probes)
// share: the news, and the state of each link. All decisions about a link are made on that state.
//
// Two processes may dial each other at the same time. Then the dial of the lower Proc wins, and
// only that end decides: once it dials, it refuses the other's connection, and it doesn't dial
// once it has accepted one. The higher end always accepts. So each link is made once.
type linkTable struct {
	self proto.Proc
	ring func() // called after news

	fresh atomic.Bool // there is news

	mu           sync.Mutex
	links        []linkState
	incarnations []proto.Incarnation // the incarnation of each peer that is admitted
	excluded     time.Time           // when a peer was fenced last that isn't certainly dead
	settle       time.Duration       // without another one, until the standing counts
	list         []news
}

func newLinkTable(self proto.Proc, incarnations []proto.Incarnation, settle time.Duration, ring func()) *linkTable {
	return &linkTable{self: self, ring: ring, links: make([]linkState, len(incarnations)), incarnations: incarnations, settle: settle}
}

// startDial says whether a dial may start. If so the link counts as dialled.
func (t *linkTable) startDial(p proto.Proc) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.links[p] != linkIdle {
		return false
	}
	t.links[p] = linkDialled
	return true
}

// dialling says whether a dial is still needed.
func (t *linkTable) dialling(p proto.Proc, incarnation proto.Incarnation) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.links[p] == linkDialled && t.incarnations[p] == incarnation
}

// finishDial makes a dial's outcome the link's, and passes it on; false if the dial isn't needed
// any more.
func (t *linkTable) finishDial(n news) bool {
	t.mu.Lock()
	if t.links[n.peer] != linkDialled || t.incarnations[n.peer] != n.incarnation {
		t.mu.Unlock()
		return false
	}
	t.links[n.peer] = linkUp
	if n.kind == ended {
		t.links[n.peer] = linkOver
	}
	t.mu.Unlock()
	t.post(n)
	return true
}

// judge is the verdict on a peer that has dialled. Once the peer is accepted the link counts as
// up: the caller has to post a connection, or an end.
func (t *linkTable) judge(from proto.Proc, incarnation proto.Incarnation, why purpose) verdict {
	t.mu.Lock()
	defer t.mu.Unlock()
	if from < 0 || int(from) >= len(t.links) || from == t.self {
		return goneHere
	}
	switch l := t.links[from]; {
	case incarnation < t.incarnations[from]:
		return eviction
	case incarnation > t.incarnations[from]:
		return unknown
	case why == toTell:
		return acknowledged
	case l == linkFenced:
		return eviction
	case l == linkOver || why != toConnect:
		return goneHere
	case l == linkUp:
		return duplicate
	case l == linkDialled && t.self < from:
		return crossing
	}
	t.links[from] = linkUp
	return accepted
}

// retract takes back an acceptance that the peer hasn't heard of; a dial of this side begins
// instead. It returns false if that isn't needed any more.
func (t *linkTable) retract(p proto.Proc, incarnation proto.Incarnation) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.links[p] != linkUp || t.incarnations[p] != incarnation {
		return false
	}
	t.links[p] = linkDialled
	return true
}

// fence notes that the owner has fenced a peer. A peer that has certainly ended is no sign of a
// partition.
func (t *linkTable) fence(p proto.Proc, certain bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.links[p] = linkFenced
	if !certain {
		t.excluded = time.Now()
	}
}

// end notes that the owner has seen, or made, the end of a link. A fenced link stays fenced.
func (t *linkTable) end(p proto.Proc) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.links[p] != linkFenced {
		t.links[p] = linkOver
	}
}

// admit begins a link anew, with another incarnation of the peer.
func (t *linkTable) admit(p proto.Proc, incarnation proto.Incarnation) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.links[p], t.incarnations[p] = linkIdle, incarnation
}

// post passes news on to the owner.
func (t *linkTable) post(n news) {
	t.mu.Lock()
	t.list = append(t.list, n)
	t.fresh.Store(true)
	t.mu.Unlock()
	t.ring()
}

// take appends the news to dst.
func (t *linkTable) take(dst []news) []news {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.fresh.Store(false)
	dst = append(dst, t.list...)
	clear(t.list)
	t.list = t.list[:0]
	return dst
}
