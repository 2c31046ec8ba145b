package remote

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"sync"

	"banyan/internal/job/agent/link"
)

// relay stands between a process and the launcher's server of PMI. A process asks, and waits for
// the answer. So that another launcher can take over between the two, the relay passes on lines,
// keeps the question that isn't answered, and repeats what the process has put.
type relay struct {
	process io.ReadWriteCloser

	mu       sync.Mutex
	to       link.Duplex
	began    int      // which launcher it is
	puts     [][]byte // all that the process has put, with their answers
	pending  []byte   // a question that isn't answered; nil: none
	barriers int      // how many it has left
	closed   bool
}

var (
	put     = []byte("cmd=put ")
	barrier = []byte("cmd=barrier_in")
)

func newRelay(process io.ReadWriteCloser) *relay { return &relay{process: process} }

// begin has the questions go to a launcher, first those that another one may know alone.
func (r *relay) begin(to link.Duplex) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.to = to
	r.began++
	if r.closed {
		to.Close()
		return
	}
	again := len(r.puts)
	if r.pending != nil && bytes.HasPrefix(r.pending, put) {
		again-- // it is pending, and comes last
	}
	for _, line := range r.puts[:again] {
		to.Write(line)
	}
	if r.pending != nil {
		to.Write(r.pending)
	}
	go r.answer(r.began, again, to.In)
}

// run passes on the process's questions.
func (r *relay) run() {
	from := bufio.NewReader(r.process)
	for {
		line, err := from.ReadBytes('\n')
		if len(line) > 0 {
			r.mu.Lock()
			r.pending = line
			if bytes.HasPrefix(line, put) {
				r.puts = append(r.puts, line)
			}
			to := r.to
			r.mu.Unlock()
			to.Write(line)
		}
		if err != nil {
			r.mu.Lock()
			r.to.Out.Close()
			r.mu.Unlock()
			return
		}
	}
}

// answer passes on a launcher's answers, but the first ones, which the process has had.
func (r *relay) answer(began, again int, from *link.In) {
	lines := bufio.NewReader(from)
	for {
		line, err := lines.ReadBytes('\n')
		var answer []byte
		r.mu.Lock()
		current := began == r.began
		switch {
		case !current, errors.Is(err, link.ErrRestarted):
		case err == nil && again > 0:
			again--
		case err == nil:
			if bytes.HasPrefix(r.pending, barrier) {
				r.barriers++
			}
			r.pending = nil
			answer = line
		default:
			r.process.Close()
		}
		r.mu.Unlock()
		r.process.Write(answer)
		if err != nil || !current {
			return
		}
	}
}

// standing is how many barriers the process has left.
func (r *relay) standing() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.barriers
}

// close ends the launcher's side.
func (r *relay) close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
	r.to.In.Close()
}
