package pmi

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// Server answers the processes of one job. Its methods may be called from
// several goroutines.
type Server struct {
	size  int
	name  string
	abort func(rank, code int, message string)
	// program says which program a process runs. It is nil if there is only one.
	program func(rank int) int
	// before is called when a barrier is complete, and calls open. nil: it opens at once.
	before func(open func())

	mu      sync.Mutex
	left    []int // by rank: barriers that it has left
	opened  int   // barriers that have opened
	opening bool
	space   map[string]string
	state   []memberState
	release chan struct{} // closed when the present barrier is complete
}

// memberState is whether barriers wait for a process.
type memberState uint8

const (
	memberBusy    memberState = iota // alive, outside the barrier
	memberWaiting                    // in the barrier
	memberGone                       // it has left or is dead
)

// NewServer makes the server of a job of size processes with this name. They all share one host
// unless SetHosts says otherwise. abort is called for each process that aborts, perhaps by
// several goroutines at the same time.
func NewServer(size int, name string, abort func(rank, code int, message string)) *Server {
	s := &Server{
		size: size, name: name, abort: abort,
		space:   make(map[string]string),
		state:   make([]memberState, size),
		release: make(chan struct{}),
		left:    make([]int, size),
	}
	s.SetHosts(make([]int32, size))
	return s
}

// BeforeBarrier has before called when all live processes are in a barrier. The barrier opens when
// before calls open, which may be later.
func (s *Server) BeforeBarrier(before func(open func())) { s.before = before }

// Space is a copy of the job's key-value space, and the name of it.
func (s *Server) Space() (name string, space map[string]string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.name, maps.Clone(s.space)
}

// Restore begins where another server was: with its space, and with the number of barriers that
// each process has left. A process that has left one more than another lets that out of it at once.
func (s *Server) Restore(space map[string]string, left []int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	maps.Copy(s.space, space)
	copy(s.left, left)
	s.opened = slices.Max(append(left, 0))
}

// Serve answers process rank until it leaves or the connection ends, and closes conn. The end of
// the connection alone is no death: only Gone says that a process is dead. The error is nil if
// the process left in order.
func (s *Server) Serve(rank int, conn io.ReadWriteCloser) error {
	defer conn.Close()
	stream := newStream(conn)
	var answers strings.Builder // to questions that have come together
	for {
		question, err := stream.read()
		if err != nil {
			return err
		}
		if question.cmd == "abort" {
			code, err := question.number("exitcode")
			if err != nil {
				code = 1
			}
			message, _ := question.get("error_msg")
			s.abort(rank, code, inWords.Replace(message))
			// There is no answer.
		} else {
			if question.cmd == "barrier_in" {
				<-s.enter(rank)
			}
			answers.WriteString(s.answer(rank, question).String())
			answers.WriteByte('\n')
		}
		last := question.cmd == "finalize"
		if answers.Len() > 0 && (last || !stream.more()) {
			if err := stream.writeText(answers.String()); err != nil {
				return err
			}
			answers.Reset()
		}
		if last {
			s.Gone(rank)
			return nil
		}
	}
}

// enter puts a process into the barrier. It returns a channel that is closed when the barrier
// opens.
func (s *Server) enter(rank int) <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.left[rank] < s.opened && s.state[rank] == memberBusy { // it opened while another server was there
		s.left[rank]++
		open := make(chan struct{})
		close(open)
		return open
	}
	release := s.release
	if s.state[rank] == memberBusy {
		s.state[rank] = memberWaiting
	}
	s.open()
	return release
}

// Gone says that a process has ended or left. No barrier waits for it any more.
func (s *Server) Gone(rank int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.state[rank] = memberGone
	s.open()
}

// Waiting is how many processes are in the barrier.
func (s *Server) Waiting() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for _, st := range s.state {
		if st == memberWaiting {
			n++
		}
	}
	return n
}

// open opens the barrier if all live processes are in it. The lock is held.
func (s *Server) open() {
	if s.opening || slices.Contains(s.state, memberBusy) {
		return
	}
	if s.before == nil || !slices.Contains(s.state, memberWaiting) {
		s.openNow()
		return
	}
	s.opening = true
	go s.before(func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.opening = false
		s.openNow()
	})
}

// openNow lets all out that are in the barrier. The lock is held.
func (s *Server) openNow() {
	s.opened++
	for i, st := range s.state {
		if st == memberWaiting {
			s.state[i] = memberBusy
			s.left[i] = s.opened
		}
	}
	close(s.release)
	s.release = make(chan struct{})
}

// answer is the answer to a question of a process. A barrier has been waited for by then.
func (s *Server) answer(rank int, q line) line {
	switch q.cmd {
	case "init":
		return newLine("response_to_init", "rc", "0", "pmi_version", "1", "pmi_subversion", "1")
	case "get_maxes":
		return newLine("maxes", "kvsname_max", strconv.Itoa(maxName),
			"keylen_max", strconv.Itoa(maxKey), "vallen_max", strconv.Itoa(maxValue))
	case "get_appnum":
		return s.appnum(rank)
	case "get_universe_size":
		return newLine("universe_size", "size", strconv.Itoa(s.size))
	case "get_my_kvsname":
		return newLine("my_kvsname", "kvsname", s.name)
	case "put":
		return s.put(q)
	case "get":
		return s.get(q)
	case "barrier_in":
		return newLine("barrier_out", "rc", "0")
	case "finalize":
		return newLine("finalize_ack", "rc", "0")
	}
	return newLine(q.cmd+"_result", "rc", "-1", "msg", "unknown_command")
}

func (s *Server) put(q line) line {
	key, _ := q.get("key")
	value, _ := q.get("value")
	if err := checkWord("key", key, maxKey); err != nil {
		return newLine("put_result", "rc", "-1", "msg", "bad_key")
	}
	if len(value) > maxValue {
		return newLine("put_result", "rc", "-1", "msg", fmt.Sprintf("value_above_%d_bytes", maxValue))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.space[key] = value
	return newLine("put_result", "rc", "0", "msg", "success")
}

func (s *Server) get(q line) line {
	key, _ := q.get("key")
	s.mu.Lock()
	defer s.mu.Unlock()
	value, ok := s.space[key]
	if !ok {
		return newLine("get_result", "rc", "-1", "msg", "key_not_found", "value", "unknown")
	}
	return newLine("get_result", "rc", "0", "msg", "success", "value", value)
}
