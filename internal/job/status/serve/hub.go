package serve

import (
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"time"

	"banyan/internal/job/mailbox"
	"banyan/internal/job/status"
	"banyan/internal/proto"
)

// Hub knows how a job is, and tells all that want to know: by its launcher (Begin, Observe,
// Sample), or by another Hub (Follow). Its methods may be called from several goroutines.
type Hub struct {
	name string

	mu        sync.Mutex
	tracker   *status.Tracker // nil: the job hasn't begun, or another Hub tells
	followed  *status.State   // what that has told; nil: nothing
	before    *status.State   // what another launcher's Hub has told; nil: there was none
	others    uint64          // events up to this number are another launcher's
	heard     time.Time       // when another Hub has said something last
	addresses []status.Place
	readers   map[*reader]struct{}
	sparse    int // of the readers
	turn      int // of the samples
	sinks     []*mailbox.Mailbox[[]status.Event]
	over      bool
	control   bool            // those who watch may have something done
	operator  status.Operator // nil: nobody does it yet
}

// readerRoom is how many messages wait for a browser that is slow.
const readerRoom = 256

// reader is a browser, another client of the stream, or another Hub.
type reader struct {
	messages chan []byte // closed when it is too slow, or nothing more comes
	sparse   bool        // it gets counters less often, if they are many: see interval
}

// NewHub makes the hub of a job.
func NewHub(name string) *Hub { return &Hub{name: name, readers: make(map[*reader]struct{})} }

// Continue has the job go on from what the Hub of another launcher has told, in JSON. It must come
// before Begin.
func (h *Hub) Continue(before []byte) error {
	s := new(status.State)
	if err := json.Unmarshal(before, s); err != nil || s.Format != status.Format {
		return fmt.Errorf("what another launcher has shown can't be read: %w", err)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.before = s
	return nil
}

// Begin implements launcher.Watcher.
func (h *Hub) Begin(job status.Job) {
	h.mu.Lock()
	defer h.mu.Unlock()
	job.Name, job.Control = h.name, h.control
	if h.before != nil {
		h.before.Job = job
		if k := len(h.before.Events); k > 0 {
			h.others = h.before.Events[k-1].Number
		}
		h.tracker = status.Continue(*h.before)
	} else {
		h.tracker = status.NewTracker(job)
	}
	h.tracker.SetAddresses(h.addresses)
}

// AddAddress says where the job can be watched, too. It takes the place of the host's other one.
func (h *Hub) AddAddress(p status.Place) {
	h.mu.Lock()
	defer h.mu.Unlock()
	all := slices.Clone(h.addresses)
	if i := slices.IndexFunc(all, func(x status.Place) bool { return x.Host == p.Host }); i >= 0 {
		all[i] = p
	} else {
		all = append(all, p)
	}
	h.addresses = all
	if h.tracker == nil {
		return
	}
	h.tracker.SetAddresses(all)
	if s := h.current(); s != nil && len(h.readers) > 0 {
		n := s.News(nil)
		n.Addresses = all
		h.tell("news", n)
	}
}

// current is the state, nil before the job has begun. The lock is held.
func (h *Hub) current() *status.State {
	if h.tracker == nil {
		return h.followed
	}
	if s := h.tracker.State(); len(s.Slots) > 0 {
		return s
	}
	return nil
}

// Observe implements launcher.Watcher.
func (h *Hub) Observe(o *status.Observation) {
	h.mu.Lock()
	defer h.mu.Unlock()
	first := h.current() == nil
	events := h.tracker.Observe(o)
	if len(events) == 0 {
		return
	}
	for _, s := range h.sinks {
		s.Put(events)
	}
	s := h.tracker.State()
	switch {
	case len(h.readers) == 0:
	case first: // who has come before this gets all
		h.tell("state", s)
	default:
		h.tell("news", s.News(events))
	}
	if s.Over != nil {
		h.end()
	}
}

// Sample takes what processes have counted.
func (h *Hub) Sample(at proto.Time, all []status.Sample) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.tracker == nil || h.over {
		return
	}
	changed, rate := h.tracker.Sample(at, all)
	if len(h.readers) == 0 {
		return
	}
	s := h.tracker.State()
	x := status.Update{At: s.At, Rate: rate, Totals: s.Totals, Survives: s.Survives, Circle: s.Circle, Counters: make(map[int]*status.Counters, len(changed))}
	for _, p := range changed {
		x.Counters[p] = s.Slots[p].Counters
	}
	h.turn++
	every := interval(len(s.Slots), h.sparse)
	if every == 1 || h.sparse == 0 {
		h.tell("sample", x)
		return
	}
	if len(h.readers) > h.sparse {
		h.tellThose("sample", x, func(r *reader) bool { return !r.sparse })
	}
	x.Counters = make(map[int]*status.Counters)
	if h.turn%every == 0 { // all that have changed since the last time
		for p := range s.Slots {
			if c := s.Slots[p].Counters; c != nil {
				x.Counters[p] = c
			}
		}
	}
	h.tellThose("sample", x, func(r *reader) bool { return r.sparse })
}

// interval is each how many samples so many other Hubs get the counters of so many processes, which
// are some 200 bytes each: together they get 3 MB a second at most.
func interval(processes, hubs int) int { return max(1, (processes*hubs+1<<14-1)>>14) }

// tell sends a message to all readers. The lock is held.
func (h *Hub) tell(kind string, what any) {
	h.tellThose(kind, what, func(*reader) bool { return true })
}

// tellThose sends a message to some readers. The lock is held.
func (h *Hub) tellThose(kind string, what any, which func(*reader) bool) {
	text, err := json.Marshal(what)
	if err != nil {
		panic("serve: " + err.Error()) // all of it can be written
	}
	h.pass(frame(kind, text), which)
}

// pass sends a message to some readers. The lock is held.
func (h *Hub) pass(message []byte, which func(*reader) bool) {
	for r := range h.readers {
		if !which(r) {
			continue
		}
		select {
		case r.messages <- message:
		default: // it comes again, and gets the whole state
			close(r.messages)
			h.remove(r)
		}
	}
}

// remove forgets a reader. The lock is held.
func (h *Hub) remove(r *reader) {
	if _, is := h.readers[r]; is && r.sparse {
		h.sparse--
	}
	delete(h.readers, r)
}

// frame is a server-sent event.
func frame(kind string, text []byte) []byte {
	return slices.Concat([]byte("event: "+kind+"\ndata: "), text, []byte("\n\n"))
}

// end says that nothing more comes. The lock is held.
func (h *Hub) end() {
	h.over = true
	for r := range h.readers {
		close(r.messages)
		h.remove(r)
	}
	for _, s := range h.sinks {
		s.Close()
	}
}

// state is the state as JSON, nil before the job has begun.
func (h *Hub) state() []byte {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.encoded()
}

func (h *Hub) encoded() []byte {
	s := h.current()
	if s == nil {
		return nil
	}
	text, err := json.Marshal(s)
	if err != nil {
		panic("serve: " + err.Error())
	}
	return text
}

// Totals are what metrics are made of: the state without its lists of events and rates. ok is
// false before the job has begun.
func (h *Hub) Totals() (s status.State, ok bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	from := h.current()
	if from == nil {
		return s, false
	}
	s = *from
	s.Hosts, s.Slots = slices.Clone(s.Hosts), slices.Clone(s.Slots)
	s.Events, s.Rates, s.Base = nil, nil, nil
	return s, true
}

// subscribe makes a reader, whose first message is the whole state.
func (h *Hub) subscribe(sparse bool) *reader {
	h.mu.Lock()
	defer h.mu.Unlock()
	r := &reader{messages: make(chan []byte, readerRoom), sparse: sparse}
	if text := h.encoded(); text != nil {
		r.messages <- frame("state", text)
	}
	if h.over {
		close(r.messages)
		return r
	}
	h.readers[r] = struct{}{}
	if sparse {
		h.sparse++
	}
	return r
}

func (h *Hub) leave(r *reader) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.remove(r)
}

// sink has events told to a sink, on a goroutine of its own, in order.
func (h *Hub) sink(take func([]status.Event)) (done <-chan struct{}) {
	m := mailbox.New(take)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.sinks = append(h.sinks, m)
	return m.Drained()
}

// Close ends what follows the job, also if that has never begun.
func (h *Hub) Close() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.over {
		h.end()
	}
}
