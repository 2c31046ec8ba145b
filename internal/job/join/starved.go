package join

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"sync"

	"banyan/internal/proto"
	"banyan/internal/runtime/transport/mesh"
)

// On a machine with more to do than cores a process may get none for longer than δ, and
// sends no heartbeats then. Its silence is no sign of death where the kernel can be asked: for a
// process of the same host it can. See docs/design/decisions/0020-starved-processes.md.

// neighbours knows the processes of this host by their cards.
type neighbours struct {
	card    mesh.Card // this process's
	near    func(p proto.Proc) bool
	resolve func(p proto.Proc) (mesh.Card, error)

	mu    sync.Mutex
	known map[proto.Proc]*neighbour
}

// neighbour is a process that has been silent.
type neighbour struct {
	pid   int    // 0: not yet known; -1: none that can be seen from here
	start string // when it started, as the kernel tells
	ran   uint64 // ns on a core, of all its threads, as seen last
}

// starved tells whether a process of this host that is silent wants to run: whether one
// of its threads has a core or waits for one, or has run since it was asked for last. The
// first time it is believed on trust, since there is nothing to compare with. One that is stopped isn't
// starved, nor one that has ended or that only sleeps.
func (n *neighbours) starved(p proto.Proc) bool {
	if !n.near(p) {
		return false
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	q, known := n.known[p]
	if !known {
		q = new(neighbour)
		n.known[p] = q
		go n.find(p, q) // the launcher has to be asked, which may take time
	}
	return q.pid == 0 || q.wants()
}

// forget says that another process has the place of one.
func (n *neighbours) forget(p proto.Proc) {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.known, p)
}

// find looks a process up.
func (n *neighbours) find(p proto.Proc, q *neighbour) {
	card, err := n.resolve(p)
	if err != nil || card.Host != n.card.Host {
		card.Pid = -1
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	q.pid, q.start = card.Pid, strconv.FormatUint(card.Start, 10)
}

// wants is starved of one process.
func (q *neighbour) wants() bool {
	self, err := stat(q.pid, "stat")
	if err != nil || string(self[startField]) != q.start {
		return false // it is no more
	}
	tasks, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", q.pid))
	if err != nil {
		return false
	}
	var ran uint64
	runnable := false
	for _, t := range tasks {
		task, err := stat(q.pid, "task", t.Name(), "stat")
		if err != nil {
			continue // it has just ended
		}
		switch task[0][0] {
		case 'T', 't': // all are stopped, or are about to be
			return false
		case 'R':
			runnable = true
		}
		if times, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%s/schedstat", q.pid, t.Name())); err == nil {
			first, _, _ := bytes.Cut(times, []byte{' '})
			ns, _ := strconv.ParseUint(string(first), 10, 64)
			ran += ns
		}
	}
	before := q.ran
	q.ran = ran
	return runnable || ran != before
}

// startField is which of stat's fields tells when a process started.
const startField = 19

// stat is what the kernel says of a process or thread, from the third field on: its
// state. The second, the command in brackets, may hold anything.
func stat(pid int, path ...string) ([][]byte, error) {
	name := filepath.Join(append([]string{"/proc", strconv.Itoa(pid)}, path...)...)
	line, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	fields := bytes.Fields(line[bytes.LastIndexByte(line, ')')+1:])
	if len(fields) <= startField {
		return nil, fmt.Errorf("job: %s is %q", name, line)
	}
	return fields, nil
}
