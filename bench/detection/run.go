package detection

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"banyan/bench/processes"
	"banyan/internal/job/env"
	"banyan/internal/job/pmi"
)

const (
	// maxStarting is how many members of the peer may be starting at once: all are told of each
	// new member, and the founder answers them all.
	maxStarting = 8
	// sampleLimit bounds the wait for a sample of every member.
	sampleLimit = 20 * time.Second
)

// startLimit bounds the time until all members are up. The peer's join one after the other.
func (s *Setting) startLimit() time.Duration {
	return max(time.Minute, time.Duration(s.N)*400*time.Millisecond)
}

// run is one run of a setting: members come up, are watched, one is struck.
type run struct {
	Setting
	again      []string
	ctx        context.Context
	group      *processes.Group
	scoreboard *scoreboard
	pidfds     []int
	toHub      *os.File // partitions: the switch's standard input
	rng        *rand.Rand
	upAt       int64    // monotonic: when all were up
	victims    []int    // in the order in which they are struck; nil until they are chosen
	env        []string // of bare members, beside the bench's own
	struckAt   []int64  // monotonic, by member: 0 if it wasn't struck
}

// Once runs a setting once. The victim is drawn from the seed. Again is how to
// start the program so that it calls Perform.
func Once(ctx context.Context, s Setting, again []string, seed uint64) (Row, error) {
	if err := s.check(); err != nil {
		return Row{}, err
	}
	row, err := once(ctx, s, again, seed)
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return Row{}, fmt.Errorf("%s, %d members, %s: %w", s.System, s.N, s.Fault, err)
	}
	return row, nil
}

func once(ctx context.Context, s Setting, again []string, seed uint64) (row Row, err error) {
	if err := checkDescriptors(s.N); err != nil {
		return Row{}, err
	}
	if s.Fault == Partition {
		if err := checkNetwork(); err != nil {
			return Row{}, err
		}
	}
	r := &run{Setting: s, again: again, ctx: ctx, rng: rand.New(rand.NewPCG(seed, 0)), struckAt: make([]int64, s.N)}
	if r.scoreboard, err = newScoreboard(s.N); err != nil {
		return Row{}, err
	}
	defer r.scoreboard.Close()
	if r.group, err = processes.NewGroup(again); err != nil {
		return Row{}, err
	}
	defer r.end()
	if err := r.start(); err != nil {
		return Row{}, err
	}
	r.upAt = processes.Monotonic()
	row = Row{Setting: s}
	if err := r.watch(&row); err != nil {
		return Row{}, err
	}
	if s.Fault != None {
		if err := r.strike(&row); err != nil {
			return Row{}, err
		}
	}
	row.Accusations = r.accusations()
	row.FalseSuspicions = len(row.Accusations)
	select {
	case <-r.group.Failed:
		return Row{}, r.group.Err("")
	default:
		return row, r.unaccountedEnds()
	}
}

// checkDescriptors makes sure that a launcher of n members can hold what it
// needs: five descriptors for each, and some to work with. Go has raised the soft
// limit to the hard one already.
func checkDescriptors(n int) error {
	var l unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &l); err != nil {
		return err
	}
	if need := uint64(8*n + 64); l.Cur < need {
		return fmt.Errorf("%d members need %d open files, and the limit is %d: raise it (ulimit -Hn)", n, need, l.Cur)
	}
	return nil
}

// start brings the members up, and the load.
func (r *run) start() (err error) {
	t := task{Setting: r.Setting, Scoreboard: r.scoreboard.Path(), Namespace: r.Fault == Partition}
	for range r.Load {
		load := t
		load.Role = roleLoad
		if _, err := r.launch(load, processes.Process{}); err != nil {
			return err
		}
	}
	if t.Namespace {
		hub := t
		hub.Role = roleSwitch
		theirs, ours, err := os.Pipe()
		if err != nil {
			return err
		}
		defer theirs.Close()
		r.toHub = ours
		if _, err := r.launch(hub, processes.Process{Stdin: theirs, Namespace: true}); err != nil {
			return err
		}
	}
	switch {
	case r.System == Banyan && !t.Namespace:
		t.Role = roleLauncher
		_, err = r.launch(t, processes.Process{})
	case r.System.isBanyan():
		err = r.startBare(t)
	default:
		err = r.startMemberlist(t)
	}
	if err == nil {
		err = r.await("come up", up)
	}
	if err != nil {
		return err
	}
	for i := range r.N {
		fd, err := unix.PidfdOpen(int(r.scoreboard.word(i, wordPid).Load()), 0)
		if err == unix.ESRCH { // taken for dead while it started, and gone
			fd = -1
		} else if err != nil {
			return os.NewSyscallError("pidfd_open", err)
		}
		r.pidfds = append(r.pidfds, fd)
	}
	return nil
}

// launch starts a process with a task. A member may end: that it died, or was taken for dead, is
// a result of the run.
func (r *run) launch(t task, p processes.Process) (*exec.Cmd, error) {
	t.Again = r.again
	p.Name, p.Env = t.Role, append(p.Env, t.env())
	return r.group.Start(p)
}

// startBare starts Banyan's members with PMI and nothing else.
func (r *run) startBare(t task) error {
	t.Role = roleMember
	server := pmi.NewServer(r.N, "bench", func(int, int, string) {})
	if r.HostSize > 0 {
		server.SetHosts(r.hosts())
	}
	for i := range r.N {
		fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
		if err != nil {
			return os.NewSyscallError("socketpair", err)
		}
		ours, theirs := os.NewFile(uintptr(fds[0]), "pmi"), os.NewFile(uintptr(fds[1]), "pmi")
		_, err = r.launch(t, processes.Process{
			Files: []*os.File{theirs}, Namespace: t.Namespace, MayEnd: true,
			Env: append([]string{"PMI_FD=3", "PMI_RANK=" + strconv.Itoa(i), "PMI_SIZE=" + strconv.Itoa(r.N),
				env.Replicas + "=1", env.ControlFD + "=",
				env.HeartbeatPeriod + "=" + r.Period.String(), env.HeartbeatTimeout + "=" + r.Timeout.String()}, r.env...),
		})
		theirs.Close()
		if err != nil {
			ours.Close()
			return err
		}
		go server.Serve(i, ours)
	}
	return nil
}

// startMemberlist starts the peer's members, a few at a time.
func (r *run) startMemberlist(t task) error {
	t.Role = roleMember
	for i := range r.N {
		// In namespaces no member is connected before all are there.
		if !t.Namespace && !r.wait(r.startLimit(), func() bool {
			return i-(r.N-len(r.scoreboard.missing(joined))) < maxStarting
		}) {
			return r.late("join", joined)
		}
		t.Member = i
		if _, err := r.launch(t, processes.Process{Namespace: t.Namespace, MayEnd: true, Env: []string{"PMI_RANK="}}); err != nil {
			return err
		}
	}
	return nil
}

// wait waits until done says yes. It returns false when the time is up, or the run has failed.
func (r *run) wait(limit time.Duration, done func() bool) bool {
	stop := make(chan struct{})
	defer close(stop)
	failed := make(chan struct{})
	go func() {
		select {
		case <-r.ctx.Done():
			close(failed)
		case <-r.group.Failed:
			close(failed)
		case <-stop:
		}
	}()
	return processes.WaitFor(failed, limit, done)
}

// await waits until all members have reached a state, or been taken for dead.
func (r *run) await(what string, state int64) error {
	if !r.wait(r.startLimit(), func() bool {
		if r.System.isBanyan() {
			gone := r.accused()
			for _, i := range r.scoreboard.missing(state) {
				if _, ok := gone[i]; !ok {
					return false
				}
			}
			return true
		}
		return len(r.scoreboard.missing(state)) == 0
	}) {
		return r.late(what, state)
	}
	return nil
}

// late is the error for members that haven't reached a state.
func (r *run) late(what string, state int64) error {
	if err := r.ctx.Err(); err != nil {
		return err
	}
	m := r.scoreboard.missing(state)
	return r.group.Err(fmt.Sprintf("%d members, %v first, didn't %s within %v", len(m), m[:min(len(m), 5)], what, r.startLimit()))
}

// end kills all processes and waits until they are gone.
func (r *run) end() {
	r.group.Close()
	if r.toHub != nil {
		r.toHub.Close()
	}
	for _, fd := range r.pidfds {
		if fd >= 0 {
			unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0) // its launcher's end has done so already
			for ended := false; !ended; {
				ended = ends(fd, time.Second)
			}
			unix.Close(fd)
		}
	}
}

// ends waits for a process to end.
func ends(pidfd int, limit time.Duration) bool {
	if pidfd < 0 {
		return true
	}
	n, err := unix.Poll([]unix.PollFd{{Fd: int32(pidfd), Events: unix.POLLIN}}, int(limit.Milliseconds()))
	return err == nil && n > 0
}
