package pmi

import (
	"fmt"
	"io"
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
	// program is which program a process runs, nil if there is only one.
	program func(rank int) int

	mu      sync.Mutex
	space   map[string]string
	state   []memberState
	release chan struct{} // closed when the barrier of now is complete
}

// memberState is what a process does, as far as barriers are concerned.
type memberState uint8

const (
	memberBusy    memberState = iota // lives, outside the barrier
	memberWaiting                    // in the barrier
	memberGone                       // never comes again
)

// NewServer makes a server for size processes, all on one host unless Place says
// otherwise. The name names the job. A process that aborts is reported to abort,
// which may be called several times and at once.
func NewServer(size int, name string, abort func(rank, code int, message string)) *Server {
	s := &Server{
		size: size, name: name, abort: abort,
		space:   make(map[string]string),
		state:   make([]memberState, size),
		release: make(chan struct{}),
	}
	s.Place(make([]int32, size))
	return s
}

// Serve answers process rank until it takes leave or breaks off, and closes
// conn. Who breaks off isn't dead by that: only Gone says so. The error is nil
// after a leave in order.
func (s *Server) Serve(rank int, conn io.ReadWriteCloser) error {
	defer conn.Close()
	stream := newStream(conn)
	for {
		question, err := stream.read()
		if err != nil {
			return err
		}
		switch question.cmd {
		case "barrier_in":
			<-s.enter(rank)
		case "abort":
			code, err := question.number("exitcode")
			if err != nil {
				code = 1
			}
			message, _ := question.get("error_msg")
			s.abort(rank, code, strings.ReplaceAll(message, "_", " "))
			continue // no answer
		}
		if err := stream.write(s.answer(rank, question)); err != nil {
			return err
		}
		if question.cmd == "finalize" {
			s.Gone(rank)
			return nil
		}
	}
}

// enter puts a process into the barrier and returns what is closed when it
// opens.
func (s *Server) enter(rank int) <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	release := s.release
	if s.state[rank] == memberBusy {
		s.state[rank] = memberWaiting
	}
	s.open()
	return release
}

// Gone says that a process has ended or left: no barrier waits for it any
// more.
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

// open opens the barrier if everybody who lives is in it. The lock is held.
func (s *Server) open() {
	for _, st := range s.state {
		if st == memberBusy {
			return
		}
	}
	for i, st := range s.state {
		if st == memberWaiting {
			s.state[i] = memberBusy
		}
	}
	close(s.release)
	s.release = make(chan struct{})
}

// answer is what a question of a process gets, barriers having been waited for.
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
