package membership

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"time"

	"banyan/bench/processes"
	"banyan/internal/groupnode"
)

// perHost is how many members that are goroutines share a process: each has some forty
// connections, and a process has a limited number of descriptors.
const perHost = 128

// oneProcessor is for processes with little to do: there are more of them than processors, and
// none should look for work on several.
const oneProcessor = "GOMAXPROCS=1"

// ensemble starts and kills members. They are named by their rows of the scoreboard. Either each
// is a process of its own, or hosts have many of them each, as goroutines.
type ensemble struct {
	group      *processes.Group
	scoreboard *scoreboard
	running    map[int]*exec.Cmd // members that are processes
	hosts      []*host
}

// host is a process that has members.
type host struct {
	command *exec.Cmd
	in      *os.File
	orders  *json.Encoder // to in
}

// order tells a host to start a member, or to kill some.
type order struct {
	Start *task `json:"start,omitempty"`
	Kill  []int `json:"kill,omitempty"`
}

func newEnsemble(again []string, b *scoreboard, apart bool, members int) (*ensemble, error) {
	g, err := processes.NewGroup(again)
	if err != nil {
		return nil, err
	}
	e := &ensemble{group: g, scoreboard: b, running: map[int]*exec.Cmd{}}
	for i := 0; !apart && i < members; i += perHost {
		if err := e.addHost(); err != nil {
			e.close()
			return nil, err
		}
	}
	return e, nil
}

func (e *ensemble) addHost() error {
	theirs, ours, err := os.Pipe()
	if err != nil {
		return err
	}
	defer theirs.Close()
	n := len(e.hosts)
	h := &host{in: ours, orders: json.NewEncoder(ours)}
	e.hosts = append(e.hosts, h)
	t := task{Scoreboard: e.scoreboard.Path(), Rows: e.scoreboard.rows, Host: true}
	h.command, err = e.group.Start(processes.Process{
		Name: "host", Env: []string{t.env()}, Stdin: theirs,
		Ended: func() { // and all its members with it
			for row := n; row < e.scoreboard.rows; row += len(e.hosts) {
				recorder{e.scoreboard, row}.Ended(nil)
			}
		},
	})
	return err
}

// start starts a member.
func (e *ensemble) start(t task) error {
	if len(e.hosts) > 0 {
		return e.hosts[t.Row%len(e.hosts)].orders.Encode(order{Start: &t})
	}
	c, err := e.group.Start(processes.Process{
		Name: fmt.Sprintf("member %d", t.Row), MayEnd: true, Ended: func() { recorder{e.scoreboard, t.Row}.Ended(nil) },
		Env: []string{t.env(), oneProcessor},
	})
	e.running[t.Row] = c
	return err
}

// kill ends members at once, together, and without a message to the others.
func (e *ensemble) kill(rows []int) error {
	for i, h := range e.hosts {
		var theirs []int
		for _, row := range rows {
			if row%len(e.hosts) == i {
				theirs = append(theirs, row)
			}
		}
		if len(theirs) > 0 {
			if err := h.orders.Encode(order{Kill: theirs}); err != nil {
				return err
			}
		}
	}
	if len(e.hosts) > 0 {
		return nil
	}
	for _, row := range rows {
		if err := e.running[row].Process.Kill(); err != nil {
			return fmt.Errorf("killing member %d: %w", row, err)
		}
		delete(e.running, row)
	}
	return nil
}

// worked is the time of processors that the processes of these members have used so far, by their
// numbers. A process that has ended is left out.
func (e *ensemble) worked(rows []int) map[int]time.Duration {
	times := map[int]time.Duration{}
	note := func(c *exec.Cmd) {
		if t, err := processes.ProcessorTime(c.Process.Pid); err == nil {
			times[c.Process.Pid] = t
		}
	}
	for _, h := range e.hosts {
		note(h.command)
	}
	for _, row := range rows {
		if c := e.running[row]; c != nil {
			note(c)
		}
	}
	return times
}

func (e *ensemble) close() {
	e.group.Close()
	for _, h := range e.hosts {
		h.in.Close()
	}
}

// fail adds what the processes say to an error.
func (e *ensemble) fail(what string) error { return e.group.Err(what) }

func newSecret() []byte {
	b := make([]byte, groupnode.MinSecret)
	rand.Read(b)
	return b
}
