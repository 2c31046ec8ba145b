package launcher

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"banyan/internal/job/agent"
	"banyan/internal/job/console"
	"banyan/internal/job/control"
	"banyan/internal/proto"
)

// Processes that a program spawns (MPI_Comm_spawn) are a job of their own: they have ranks, a
// key-value space and deaths of their own, and connect to those that have spawned them. This
// launcher runs it beside its own, with the same agents, so they run on the hosts of the job. Its
// output goes where the job's does. The job ends when all of them have ended, with its own exit
// code or, if that is 0, with the first one of theirs that isn't. The codes of those that couldn't
// be reached don't count: to the program that is an error of MPI_Comm_spawn. What ends the job, a
// signal or a time limit, ends them, too.

// spawned are the jobs that processes of a job have spawned. The loop owns it.
type spawned struct {
	running map[int]*spawnedJob
	last    int
	failed  []*spawnedJob // have ended with another code than 0
	ended   chan struct{} // not nil: only they are left, and it is closed when none is
}

type spawnedJob struct {
	by      *process // asked for it, by a number
	number  uint64
	code    int
	lost    bool // it can't be reached
	stop    chan struct{}
	stopped bool
	signals chan os.Signal
}

// spawnedIncarnations is how many incarnations a spawned job has for itself on each agent.
const spawnedIncarnations = 1 << 12

// spawn starts what a process asks for.
func (j *job) spawn(p *process, m control.Message) {
	answer := func(program int, err error) {
		p.Say(control.Message{Type: control.Spawned, Number: m.Number, Code: program, Text: err.Error()})
	}
	if why := j.cannotSpawn(); why != "" {
		answer(-1, errors.New(why))
		return
	}
	c, program, err := j.spawnConfig(p, m.Spawned)
	if err != nil {
		answer(program, err)
		return
	}
	s := &j.spawned
	if s.running == nil {
		s.running = make(map[int]*spawnedJob)
	}
	s.last++
	n := s.last
	x := &spawnedJob{by: p, number: m.Number, stop: make(chan struct{}), signals: make(chan os.Signal, 2)}
	s.running[n] = x
	c.labels, c.ancestor = fmt.Sprintf("%s%d.", j.labels, n), j.answerer()
	c.Stop, c.Signals = x.stop, x.signals
	c.firstIncarnation = j.firstIncarnation + proto.Incarnation(n*spawnedIncarnations)
	c.Started = func() { p.Say(control.Message{Type: control.Spawned, Number: m.Number}) }
	go func() {
		report, err := runAs(c, fmt.Sprintf("banyan-%d-%d-%d", os.Getpid(), c.firstIncarnation, n), func() *signals { return new(signals) })
		c.ancestor.Update(func(i *console.Info) { i.DropSpawned(c.number()) })
		j.post(func() { j.spawnEnded(x, n, report, err) })
	}()
}

// cannotSpawn says why this job's processes can't spawn others; "": they can.
func (j *job) cannotSpawn() string {
	switch {
	case j.ending:
		return "the job is ending"
	case j.layout.Replicated():
		return "the ranks of this job have replicas, and each replica would spawn processes for itself"
	case j.Rollback:
		return "this job goes back to snapshots (--rollback), and what it spawns wouldn't"
	case j.Keep != nil:
		return "this job outlives its launcher (--detach, --on-console-loss=continue), and what it spawns wouldn't"
	case j.inproc():
		return "all ranks of this job are in one process (--transport inproc)"
	}
	return ""
}

// spawnConfig is the job that a process asks for. program is the one that is wrong, if there is an
// error.
func (j *job) spawnConfig(p *process, s *control.SpawnOrder) (c Config, program int, err error) {
	if s == nil || len(s.Parts) == 0 {
		return c, -1, errors.New("there is nothing to spawn")
	}
	from := j.plan.part(int(j.ledger.Rank(p.id)))
	var parts []Part
	for i, x := range s.Parts {
		part := Part{Ranks: x.Ranks, Program: x.Program, Args: x.Args, Env: from.Env, Dir: cmp.Or(x.Dir, from.Dir)}
		if x.Path != "" && !strings.Contains(x.Program, "/") {
			for _, dir := range filepath.SplitList(x.Path) {
				if info, err := os.Stat(filepath.Join(dir, x.Program)); err == nil && info.Mode().IsRegular() {
					part.Program = filepath.Join(dir, x.Program)
					break
				}
			}
		}
		check := &plan{Config: Config{}}
		check.Ranks, check.Program, check.Args, check.Dir = part.Ranks, part.Program, part.Args, part.Dir
		if err := check.divide(); err != nil {
			return c, i, err
		}
		if err := check.parts[0].find(); err != nil {
			return c, i, err
		}
		parts = append(parts, part)
	}
	c = Config{
		Ranks: parts[0].Ranks, Program: parts[0].Program, Args: parts[0].Args, Env: parts[0].Env, Dir: parts[0].Dir, More: parts[1:], Replicas: 1,
		Bind: BindNone, Transport: j.Transport, Encrypt: j.Encrypt, HeartbeatPeriod: j.HeartbeatPeriod, HeartbeatTimeout: j.HeartbeatTimeout, Debug: j.Debug,
		FaultTolerance: j.FaultTolerance, Label: j.Label, Stdin: strings.NewReader(""), Stdout: j.Stdout, Stderr: j.Stderr, Parent: s.Port, Slots: j.Slots,
	}
	if len(j.Agents) > 0 {
		program, err = j.placeSpawned(&c, s.Parts)
	}
	return c, program, err
}

// placeSpawned chooses the hosts: for each process the one with the fewest processes for each
// core, of those that its program names.
func (j *job) placeSpawned(c *Config, parts []control.SpawnPart) (program int, err error) {
	living := j.hosts.living()
	var numbers []int // of the hosts that are left
	load := make(map[int]int)
	for host, ok := range living {
		if ok && j.hosts.drains[host] == nil {
			load[host] = j.hosts.load(host)
			numbers = append(numbers, host)
			c.Agents, c.Names = append(c.Agents, j.hosts.agents[host]), append(c.Names, j.hosts.name(host))
		}
	}
	for i, x := range parts {
		for range x.Ranks {
			best := -1
			for k, host := range numbers {
				if len(x.Hosts) > 0 && !slices.Contains(x.Hosts, c.Names[k]) {
					continue
				}
				if best < 0 || load[host]*cores(j.hosts.found[numbers[best]]) < load[numbers[best]]*cores(j.hosts.found[host]) {
					best = k
				}
			}
			if best < 0 {
				return i, fmt.Errorf("the job has none of the hosts %s; it has %s", strings.Join(x.Hosts, ", "), strings.Join(c.Names, ", "))
			}
			load[numbers[best]]++
			c.Places = append(c.Places, best)
		}
	}
	return 0, nil
}

func cores(h agent.Host) int { return max(1, len(h.Cores)) }

// spawnEnded takes the end of a spawned job, or why it couldn't start.
func (j *job) spawnEnded(x *spawnedJob, n int, r *Report, err error) {
	s := &j.spawned
	delete(s.running, n)
	switch {
	case err != nil:
		x.by.Say(control.Message{Type: control.Spawned, Number: x.number, Code: -1, Text: err.Error()})
	default:
		x.by.Say(control.Message{Type: control.SpawnEnded, Number: x.number, Text: fmt.Sprintf("its processes have ended with exit code %d", r.ExitCode)})
		if x.code = r.ExitCode; x.code != 0 && !x.lost {
			s.failed = append(s.failed, x)
		}
	}
	if s.ended != nil && len(s.running) == 0 {
		close(s.ended)
	}
}

// disown notes that what a process has had started can't be reached, and may have ended for that.
func (s *spawned) disown(p *process, number uint64) {
	its := func(x *spawnedJob) bool { return x.by == p && x.number == number }
	for _, x := range s.running {
		x.lost = x.lost || its(x)
	}
	s.failed = slices.DeleteFunc(s.failed, its)
}

// code is the first exit code of theirs that isn't 0, or 0.
func (s *spawned) code() int {
	if len(s.failed) == 0 {
		return 0
	}
	return s.failed[0].code
}

// awaitSpawned says whether spawned jobs are left when the job itself is over. Then the loop goes
// on until these have ended.
func (j *job) awaitSpawned() bool {
	s := &j.spawned
	if len(s.running) == 0 || s.ended != nil {
		return false
	}
	j.drained, s.ended = nil, make(chan struct{})
	return true
}

// over is closed when nothing is left.
func (s *spawned) over() <-chan struct{} { return s.ended }

// stop ends all of them at once.
func (s *spawned) stop() {
	for _, x := range s.running {
		if !x.stopped {
			x.stopped = true
			close(x.stop)
		}
	}
}

// signal passes a signal on.
func (s *spawned) signal(sig os.Signal) {
	for _, x := range s.running {
		select {
		case x.signals <- sig:
		default:
		}
	}
}
