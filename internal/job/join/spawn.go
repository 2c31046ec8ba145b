package join

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"banyan/internal/job/control"
	"banyan/internal/job/env"
	"banyan/internal/job/port"
	"banyan/internal/runtime/connection"
)

// startLimit bounds how long a launcher takes to start processes. This process ends with its
// launcher, which may be stopped, though.
const startLimit = 2 * time.Minute

// spawning is what this process has asked its launcher to start.
type spawning struct {
	answer chan control.Message // Spawned
	ended  chan struct{}        // closed: all of it has ended
	how    string
}

// heard takes what the launcher says of it.
func (d *dynamic) heard(m control.Message) {
	d.mu.Lock()
	defer d.mu.Unlock()
	s := d.spawning[m.Number]
	switch {
	case s == nil:
	case m.Type == control.Spawned:
		select {
		case s.answer <- m:
		default: // there is one
		}
	case m.Type == control.SpawnEnded:
		s.how = m.Text
		close(s.ended)
		delete(d.spawning, m.Number)
	}
}

// noSpawn says why nothing is spawned: because of a program, or (-1) of none of them.
func noSpawn(program int, format string, args ...any) error {
	text := fmt.Sprintf(format, args...)
	if program >= 0 {
		text = fmt.Sprintf("program %d: %s", program, text)
	}
	return &connection.Failure{Kind: connection.NoSpawn, Text: text}
}

// Spawn has programs started, and waits until they call. What becomes of them counts for the job's
// exit code, unless disown is called: they can't be reached, which the program handles.
func (j *Job) Spawn(programs []connection.Program) (line connection.Line, disown func(), err error) {
	if err := j.CanConnect(); err != nil {
		return nil, nil, err
	}
	address := "127.0.0.1"
	if !j.oneHost() || os.Getenv(env.Leased) != "" { // agents may be elsewhere
		address, _ = farAddress()
	}
	p, err := port.Open(address)
	if err != nil {
		return nil, nil, noSpawn(-1, "%v", err)
	}
	defer p.Close()
	order := &control.SpawnOrder{Port: p.Name()}
	for _, x := range programs {
		order.Parts = append(order.Parts, control.SpawnPart{Program: x.Command, Args: x.Args, Ranks: x.Ranks, Dir: x.Dir, Path: x.Path, Hosts: x.Hosts})
	}
	if !order.Fits() {
		return nil, nil, noSpawn(-1, "the arguments of the programs are too long: put them into a file")
	}
	s := &spawning{answer: make(chan control.Message, 1), ended: make(chan struct{})}
	disown = func() {}
	if l, ok := j.supervisor.(*launched); ok {
		var number uint64
		number, err = j.askLauncher(l, order, s, startLimit)
		disown = func() { l.lifeline.Send(control.Message{Type: control.Disown, Number: number}) }
	} else if j.launcher != nil {
		err = noSpawn(-1, "this launcher can't start more processes: use Banyan's mpiexec (banyan run)")
	} else {
		err = startLauncher(order, s)
	}
	if err != nil {
		return nil, nil, err
	}
	defer j.dynamic.waiting("waits for processes that it has spawned to call MPI_Init")()
	line, err = p.AcceptUntil(s.ended, 0)
	if err != nil {
		disown()
		return nil, nil, noSpawn(-1, "the processes haven't called MPI_Init: %s", s.how)
	}
	return line, disown, nil
}

// askLauncher has the launcher start them, by a number, within a limit.
func (j *Job) askLauncher(l *launched, order *control.SpawnOrder, s *spawning, limit time.Duration) (number uint64, err error) {
	d := &j.dynamic
	d.mu.Lock()
	d.spawned++
	number = d.spawned
	if d.spawning == nil {
		d.spawning = make(map[uint64]*spawning)
	}
	d.spawning[number] = s
	d.mu.Unlock()
	if err := l.lifeline.Send(control.Message{Type: control.Spawn, Number: number, Spawned: order}); err != nil {
		return number, noSpawn(-1, "the launcher can't be asked: %v", err)
	}
	timer := time.NewTimer(limit)
	defer timer.Stop()
	var m control.Message
	select {
	case m = <-s.answer:
	case <-s.ended: // at once: the answer may have come as well, or there may be none
		select {
		case m = <-s.answer:
		default:
			return number, noSpawn(-1, "no process has been started: %s", s.how)
		}
	case <-timer.C:
		d.mu.Lock()
		delete(d.spawning, number)
		d.mu.Unlock()
		return number, noSpawn(-1, "the launcher hasn't started the processes within %v", limit)
	}
	if m.Text != "" {
		d.mu.Lock()
		delete(d.spawning, number)
		d.mu.Unlock()
		return number, noSpawn(m.Code, "%s", m.Text)
	}
	return number, nil
}

// startLauncher starts a launcher that starts them, for a program without one. They end before or
// after this process, as they like; the exit code of this process is its own.
func startLauncher(order *control.SpawnOrder, s *spawning) error {
	mpiexec, err := ownLauncher()
	if err != nil {
		return noSpawn(-1, "%v", err)
	}
	var args []string
	for i, x := range order.Parts {
		if i > 0 {
			args = append(args, ":")
		}
		args = append(args, "-n", strconv.Itoa(x.Ranks))
		if x.Dir != "" {
			args = append(args, "-wdir", x.Dir)
		}
		if len(x.Hosts) > 0 {
			args = append(args, "-host", strings.Join(x.Hosts, ","))
		}
		program := x.Program
		for _, dir := range filepath.SplitList(x.Path) {
			if at := filepath.Join(dir, program); !strings.Contains(program, "/") && isProgram(at) {
				program = at
				break
			}
		}
		if x.Dir == "" && !strings.Contains(program, "/") && inPath(program) == "" && !isProgram(program) || strings.HasPrefix(program, "/") && !isProgram(program) {
			return noSpawn(i, "%s: there is no such program", x.Program)
		}
		if slices.Contains(x.Args, ":") {
			return noSpawn(i, "%s has the argument \":\", which a launcher takes for the end of a program: start this program with mpiexec", x.Program)
		}
		args = append(append(args, program), x.Args...)
	}
	null, err := os.Open(os.DevNull)
	if err != nil {
		return noSpawn(-1, "the launcher can't be started: %v", err)
	}
	defer null.Close()
	process, err := os.StartProcess(mpiexec, append([]string{mpiexec}, args...), &os.ProcAttr{
		Files: []*os.File{null, os.Stdout, os.Stderr}, Env: append(withoutOwn(os.Environ()), env.Entry(env.Spawner, order.Port)),
	})
	if err != nil {
		return noSpawn(-1, "the launcher can't be started: %v", err)
	}
	go func() {
		s.how = "they have ended"
		if state, err := process.Wait(); err == nil && !state.Success() {
			s.how = "their launcher has ended: " + state.String()
		}
		close(s.ended)
	}()
	return nil
}

// withoutOwn is an environment without what would make a launcher's processes alone.
func withoutOwn(all []string) []string {
	return slices.DeleteFunc(slices.Clone(all), func(s string) bool { return strings.HasPrefix(s, env.Alone+"=") })
}

// inPath is where PATH has a program; "" if it hasn't.
func inPath(program string) string {
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		if at := filepath.Join(dir, program); isProgram(at) {
			return at
		}
	}
	return ""
}

func isProgram(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0
}

// ownLauncher is the mpiexec beside this library, or banyan's in PATH.
func ownLauncher() (string, error) {
	maps, err := os.Open("/proc/self/maps")
	if err == nil {
		defer maps.Close()
		for lines := bufio.NewScanner(maps); lines.Scan(); {
			at := strings.IndexByte(lines.Text(), '/')
			if at < 0 || !strings.HasPrefix(filepath.Base(lines.Text()[at:]), "libmpi_abi.so") {
				continue
			}
			dir := filepath.Dir(lines.Text()[at:])
			for _, try := range []string{filepath.Join(dir, "mpiexec"), filepath.Join(dir, "../bin/mpiexec")} {
				if isProgram(try) {
					return try, nil
				}
			}
		}
	}
	if path := inPath("banyan"); path != "" {
		if try := filepath.Join(filepath.Dir(path), "mpiexec"); isProgram(try) {
			return try, nil
		}
	}
	return "", errors.New("this program has no launcher, and Banyan's mpiexec isn't beside its library nor in PATH: start the program with mpiexec")
}
