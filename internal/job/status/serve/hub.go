package serve

import (
	"encoding/json"
	"maps"
	"slices"
	"sync"

	"banyan/internal/job/mailbox"
	"banyan/internal/job/status"
	"banyan/internal/proto"
)

// Hub knows how a job is, and tells all that want to know. Its methods may be called from several
// goroutines.
type Hub struct {
	name string

	mu        sync.Mutex
	tracker   *status.Tracker // nil: the job hasn't begun
	addresses []string
	readers   map[*reader]struct{}
	sinks     []*mailbox.Mailbox[[]status.Event]
	over      bool
}

// readerRoom is how many messages wait for a browser that is slow.
const readerRoom = 256

// reader is a browser, or another client of the stream.
type reader struct {
	messages chan []byte // closed when it is too slow, or nothing more comes
}

// NewHub makes the hub of a job.
func NewHub(name string) *Hub { return &Hub{name: name, readers: make(map[*reader]struct{})} }

// Begin implements launcher.Watcher.
func (h *Hub) Begin(job status.Job) {
	h.mu.Lock()
	defer h.mu.Unlock()
	job.Name = h.name
	h.tracker = status.NewTracker(job)
	h.tracker.SetAddresses(h.addresses)
}

// SetAddresses says where the job can be watched.
func (h *Hub) SetAddresses(all []string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.addresses = all
	if h.tracker != nil {
		h.tracker.SetAddresses(all)
	}
}

// news is what a browser is told when something has happened.
type news struct {
	At       status.Seconds  `json:"at_s"`
	Events   []status.Event  `json:"events"`
	Hosts    []status.Host   `json:"hosts"`
	View     uint64          `json:"view"`
	Members  int             `json:"members"`
	Survives status.Survival `json:"survives"`
	Totals   status.Totals   `json:"totals"`
	PIDs     map[int]int     `json:"pids,omitempty"` // of processes that have changed
	Over     *status.Over    `json:"over,omitempty"`
}

// Observe implements launcher.Watcher.
func (h *Hub) Observe(o *status.Observation) {
	h.mu.Lock()
	defer h.mu.Unlock()
	events := h.tracker.Observe(o)
	if len(events) == 0 {
		return
	}
	for _, s := range h.sinks {
		s.Put(events)
	}
	s := h.tracker.State()
	if len(h.readers) > 0 {
		n := news{At: s.At, Events: events, Hosts: s.Hosts, View: s.View, Members: s.Members, Survives: s.Survives, Totals: s.Totals, Over: s.Over, PIDs: map[int]int{}}
		for _, e := range events {
			for _, c := range e.Set {
				n.PIDs[c.Process] = s.Slots[c.Process].PID
			}
		}
		h.tell("news", n)
	}
	if s.Over != nil {
		h.end()
	}
}

// sample is what a browser is told about once a second.
type sample struct {
	At       status.Seconds           `json:"at_s"`
	Rate     *status.Rate             `json:"rate,omitempty"`
	Totals   status.Totals            `json:"totals"`
	Survives status.Survival          `json:"survives"`
	Circle   []int                    `json:"circle"`
	Counters map[int]*status.Counters `json:"counters"`
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
	x := sample{At: s.At, Rate: rate, Totals: s.Totals, Survives: s.Survives, Circle: s.Circle, Counters: make(map[int]*status.Counters, len(changed))}
	for _, p := range changed {
		x.Counters[p] = s.Slots[p].Counters
	}
	h.tell("sample", x)
}

// tell sends a message to all readers. The lock is held.
func (h *Hub) tell(kind string, what any) {
	text, err := json.Marshal(what)
	if err != nil {
		panic("serve: " + err.Error()) // all of it can be written
	}
	message := frame(kind, text)
	for r := range h.readers {
		select {
		case r.messages <- message:
		default: // it comes again, and gets the whole state
			close(r.messages)
			delete(h.readers, r)
		}
	}
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
		delete(h.readers, r)
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
	if h.tracker == nil {
		return nil
	}
	text, err := json.Marshal(h.tracker.State())
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
	if h.tracker == nil {
		return s, false
	}
	s = *h.tracker.State()
	s.Hosts, s.Slots, s.Deaths = slices.Clone(s.Hosts), slices.Clone(s.Slots), maps.Clone(s.Deaths)
	s.Events, s.Rates, s.Base = nil, nil, nil
	return s, true
}

// subscribe makes a reader, whose first message is the whole state.
func (h *Hub) subscribe() *reader {
	h.mu.Lock()
	defer h.mu.Unlock()
	r := &reader{messages: make(chan []byte, readerRoom)}
	if text := h.encoded(); text != nil {
		r.messages <- frame("state", text)
	}
	if h.over {
		close(r.messages)
	} else {
		h.readers[r] = struct{}{}
	}
	return r
}

func (h *Hub) leave(r *reader) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.readers, r)
}

// follow has events told to a sink, on a goroutine of its own, in order.
func (h *Hub) follow(take func([]status.Event)) (done <-chan struct{}) {
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
