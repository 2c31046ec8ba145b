package launcher

import (
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"sync"
	"syscall"

	"banyan/internal/job/agent"
	"banyan/internal/job/recovery"
	"banyan/internal/proto"
)

// spawner has the agents start the processes of a job. It says what each process is to be.
type spawner struct {
	*plan
	hosts     *hosts
	recording *recording // nil: no trace
	cores     [][]int    // by Proc: what the process of the slot is bound to; nil: to nothing
	// Agents know processes by incarnations that no other one had. After the job has gone
	// back those that the processes know begin with 0 again, which is base to agents. last is
	// the highest.
	base, last proto.Incarnation
}

func newSpawner(p *plan, h *hosts, r *recording) *spawner {
	return &spawner{plan: p, hosts: h, recording: r, cores: make([][]int, p.size)}
}

// startAll starts the first process of every replica slot, on all hosts at the same time. If one
// can't be started, none is left.
func (s *spawner) startAll() ([]*process, error) {
	specs := make([][]agent.Spec, len(s.hosts.agents))
	for host := range specs {
		specs[host] = s.firstSpecs(host)
	}
	return s.start(specs)
}

// start starts the processes of all hosts, at the same time. If one can't be started, none is
// left.
func (s *spawner) start(specs [][]agent.Spec) ([]*process, error) {
	procs := make([][]agent.Process, len(specs))
	errs := make([]error, len(specs))
	var started sync.WaitGroup
	for host := range specs {
		if len(specs[host]) > 0 {
			started.Go(func() { procs[host], errs[host] = s.hosts.agents[host].Start(specs[host]) })
		}
	}
	started.Wait()
	all := make([]*process, s.size)
	for host := range procs {
		for i, p := range procs[host] {
			x := newProcess(&specs[host][i], p, host)
			x.incarnation -= s.base
			slog.Debug("started", "process", x.id, "pid", x.pid, "host", s.hosts.name(host))
			all[x.id] = x
		}
	}
	if host := slices.IndexFunc(errs, func(err error) bool { return err != nil }); host >= 0 {
		for _, x := range all {
			if x != nil {
				discard(x)
			}
		}
		return nil, s.startError(host, errs[host])
	}
	return all, nil
}

// firstSpecs are the first processes of a host.
func (s *spawner) firstSpecs(host int) []agent.Spec {
	var procs []proto.Proc
	for id, at := range s.Places {
		if at == host {
			procs = append(procs, proto.Proc(id))
		}
	}
	cores := s.bindAll(s.hosts.found[host].Cores, procs)
	specs := make([]agent.Spec, len(procs))
	for i, id := range procs {
		s.cores[id] = cores.of(i)
		specs[i] = s.spec(id, 0, host, s.firstEnvironment(id))
		specs[i].Replacement = s.resumed != nil
		specs[i].Trace = s.recording.traced() // a replacement has none
	}
	return specs
}

// spec is what a process is to be. own is what it is told beside what all are told.
func (s *spawner) spec(id proto.Proc, incarnation proto.Incarnation, host int, own []string) agent.Spec {
	named := s.base + incarnation
	s.last = max(s.last, named)
	if incarnation == 0 {
		named = 0
	}
	program := s.programOf(id, named)
	return agent.Spec{
		Proc: id, Incarnation: s.base + incarnation,
		Path: program.path, Argv: program.argv(), Dir: program.Dir, MakeDir: s.PrivateDir != "",
		Env:   slices.Concat(inherited(program.Env), s.environment(id, len(s.hosts.found[host].Cores)), own),
		Input: s.input(id), Replacement: incarnation > 0, Cores: s.cores[id], Snapshots: s.Rollback, Counters: s.Counted,
	}
}

// replacementSpec is what the process of an attempt is to be, on this host. predecessor filled the
// slot before, and own is what it is told beside what all are told.
func (s *spawner) replacementSpec(a *recovery.Attempt, host int, predecessor *process, own []string) agent.Spec {
	if host != predecessor.host {
		s.cores[a.Proc] = s.bindMoved(a.Proc, s.hosts.found[host].Cores, func(core int) int {
			n := 0
			for _, p := range s.hosts.on[host] {
				if slices.Contains(s.cores[p.id], core) {
					n++
				}
			}
			for id, at := range s.hosts.coming {
				if at == host && slices.Contains(s.cores[id], core) {
					n++
				}
			}
			return n
		})
	}
	return s.spec(a.Proc, a.Incarnation, host, own)
}

// input is what a process gets as stdin.
func (p *plan) input(id proto.Proc) agent.InputKind {
	switch {
	case p.layout.Rank(id) != 0:
		return agent.NoInput
	case p.heals() || p.Rollback:
		return agent.AskedInput
	}
	return agent.SomeInput
}

// startError says what the failure of an agent to start a process means.
func (s *spawner) startError(host int, err error) error {
	where := ""
	if s.hosts.several() {
		where = " on " + s.hosts.name(host)
	}
	var e *agent.StartError
	if !errors.As(err, &e) {
		return &StartError{1, fmt.Errorf("the job can't be started%s: %w", where, err)}
	}
	program := s.part(int(s.layout.Rank(e.Proc))).Program
	switch {
	case e.Op == "mkdir":
		return &StartError{1, fmt.Errorf("the directory of %v replica %d%s: %w", s.layout.Rank(e.Proc), s.layout.Replica(e.Proc), where, e)}
	case e.Op == "sched_setaffinity":
		return &StartError{1, fmt.Errorf("%s can't be bound to cores %v%s: %w", program, s.cores[e.Proc], where, e.Err)}
	case e.Op != "execve":
		return &StartError{1, fmt.Errorf("%s can't be started%s: %w", program, where, e)}
	}
	code := 1
	switch e.Err {
	case syscall.ENOEXEC:
		return &StartError{CodeNotExecutable, fmt.Errorf("%s can't be executed%s: it is neither a program for this machine nor a script with a #! line", program, where)}
	case syscall.EACCES:
		code = CodeNotExecutable
	case syscall.ENOENT: // the interpreter is missing, or the program, on another host
		code = CodeNotFound
		if where != "" && !filepath.IsAbs(program) { // an agent that has joined: its directories are its own
			where += ", in the directory of its agent or of --wdir"
		}
	}
	return &StartError{code, fmt.Errorf("%s can't be started%s: %w", program, where, e.Err)}
}
