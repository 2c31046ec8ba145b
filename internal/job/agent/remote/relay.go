package remote

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"slices"
	"sync"

	"banyan/internal/job/agent/link"
)

// relay stands between a process and the launcher's server of PMI. A process asks, perhaps several
// questions at once, and waits for the answers. So that another launcher can take over between the
// two, the relay passes on lines, keeps the questions that aren't answered, and repeats what the
// process has put.
type relay struct {
	process io.ReadWriteCloser

	mu       sync.Mutex
	to       link.Duplex
	began    int      // which launcher it is
	puts     [][]byte // all that the process has put, and was answered
	pending  [][]byte // the questions that aren't answered, in their order
	barriers int      // how many it has left
	closed   bool
}

var (
	put     = []byte("cmd=put ")
	barrier = []byte("cmd=barrier_in")
	abort   = []byte("cmd=abort")
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
	for _, line := range slices.Concat(r.puts, r.pending) {
		to.Write(line)
	}
	go r.answer(r.began, len(r.puts), to.In)
}

// run passes on the process's questions.
func (r *relay) run() {
	from := bufio.NewReader(r.process)
	for {
		line, err := from.ReadBytes('\n')
		if len(line) > 0 {
			r.mu.Lock()
			r.pending = append(r.pending, line)
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
			r.answered()
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

// answered notes that the first question that wasn't answered is. An abort before it has no answer.
// The lock is held.
func (r *relay) answered() {
	for len(r.pending) > 0 && bytes.HasPrefix(r.pending[0], abort) {
		r.pending = r.pending[1:]
	}
	if len(r.pending) == 0 {
		return
	}
	question := r.pending[0]
	r.pending = r.pending[1:]
	switch {
	case bytes.HasPrefix(question, put):
		r.puts = append(r.puts, question)
	case bytes.HasPrefix(question, barrier):
		r.barriers++
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
