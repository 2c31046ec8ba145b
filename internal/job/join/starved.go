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

// On a machine with more work than cores, a process may get no core for longer than δ. It sends
// no heartbeats then. Its silence is no sign of death if the kernel says that it wants to run,
// and the kernel can be asked about processes of the same host:
// docs/design/decisions/0020-starved-processes.md.

// neighbours asks the kernel about the processes of this host, which it knows by their cards.
type neighbours struct {
	card    mesh.Card // this process's
	hosts   processHosts
	resolve func(p proto.Proc) (mesh.Card, error)

	mu    sync.Mutex
	known map[proto.Proc]*neighbour
}

func newNeighbours(card mesh.Card, hosts processHosts, resolve func(p proto.Proc) (mesh.Card, error)) *neighbours {
	return &neighbours{card: card, hosts: hosts, resolve: resolve, known: make(map[proto.Proc]*neighbour)}
}

// neighbour is a process that has been silent.
type neighbour struct {
	pid   int    // 0: not known yet; -1: it can't be seen from here
	start string // when it started, as the kernel says
	ran   uint64 // ns on a core, of all its threads, when it was last looked at
}

// starved says whether a silent process of this host wants to run: whether one of its threads has
// a core or waits for one, or has run since the last call. The first call returns true, since
// there is nothing to compare with: the engine makes it when the process is overdue, long before it
// has to decide. A process that is stopped, that has ended or that only sleeps
// isn't starved.
func (n *neighbours) starved(p proto.Proc) bool {
	if !n.hosts.near(p) {
		return false
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	q, known := n.known[p]
	if !known {
		q = new(neighbour)
		n.known[p] = q
		go n.find(p, q) // it asks the launcher, which may take time
	}
	return q.pid == 0 || q.wants()
}

// forget says that a replacement has come in the place of a process.
func (n *neighbours) forget(p proto.Proc) {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.known, p)
}

// find looks up the process id.
func (n *neighbours) find(p proto.Proc, q *neighbour) {
	card, err := n.resolve(p)
	if err != nil || card.Host != n.card.Host {
		card.Pid = -1
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	q.pid, q.start = card.Pid, strconv.FormatUint(card.Start, 10)
}

// wants says whether a process wants to run.
func (q *neighbour) wants() bool {
	self, err := stat(q.pid, "stat")
	if err != nil || string(self[startField]) != q.start {
		return false // it has ended
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
		case 'T', 't': // all threads are stopped, or are about to be
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

// startField is the index of the field of stat that says when a process started.
const startField = 19

// stat returns what the kernel says of a process or thread. It begins with the third field, the
// state. The second, the command in brackets, may hold anything.
func stat(pid int, path ...string) ([][]byte, error) {
	name := filepath.Join(append([]string{"/proc", strconv.Itoa(pid)}, path...)...)
	line, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	fields := bytes.Fields(line[bytes.LastIndexByte(line, ')')+1:])
	if len(fields) <= startField {
		return nil, fmt.Errorf("join: %s is %q", name, line)
	}
	return fields, nil
}
