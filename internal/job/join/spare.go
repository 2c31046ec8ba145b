package join

import (
	"errors"
	"fmt"
	"os"
	"strconv"

	"golang.org/x/sys/unix"

	"banyan/internal/job/control"
	"banyan/internal/job/env"
	"banyan/internal/job/pmi"
	"banyan/internal/job/spares"
	"banyan/internal/proto"
	"banyan/internal/runtime/handshake"
)

// spareKey and a number say where a spare's door is.
const spareKey = "banyan-spare-"

// readSpares reads how many spares there are, in a job of so many processes. Under "banyan run" there are
// none: it starts replacements by itself, and says so.
func readSpares(procs int) (int, error) {
	text := os.Getenv(env.Spares)
	if text == "" {
		return 0, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		return 0, fmt.Errorf("%s=%.100q must be a number of processes", env.Spares, text)
	}
	if n >= procs {
		return 0, fmt.Errorf("%s=%d of %d processes leaves none for the job", env.Spares, n, procs)
	}
	return n, nil
}

// isSpare says whether the launcher has started this process as a spare.
func (j *Job) isSpare() bool { return j.spares > 0 && int(j.station) >= j.layout.Procs() }

// wait is what a spare does until it has a place in the job, and what it is then. If the
// job ends without it, this process ends.
func (j *Job) wait() error {
	if err := j.bootstrap(); err != nil {
		return err
	}
	own, err := keepStreams()
	if err != nil {
		return err
	}
	notes := os.Stderr // whatever becomes of the program's
	if fd, err := unix.FcntlInt(2, unix.F_DUPFD_CLOEXEC, 3); err == nil {
		notes = os.NewFile(uintptr(fd), "stderr")
	}
	j.waiting.Store(true)
	j.service, err = spares.Serve(handshake.Meeting{Self: j.station, Secret: j.secret}, j.address, spares.ServiceConfig{
		Layout: j.layout, Spares: j.spares, Silence: j.silence,
		Note: func(text string) { fmt.Fprintf(notes, "banyan: %s\n", text) },
		Refused: func(err error) {
			j.log.Debug("a stranger at the door", "spare", int(j.station), "reason", err)
		},
		Ended: j.dismissed,
	})
	if err != nil {
		return err
	}
	if err := j.pmi.Put(spareKey+strconv.Itoa(int(j.station)), j.service.Address()); err != nil {
		return err
	}
	if err := j.pmi.Barrier(); err != nil {
		return err
	}
	if err := j.findSpareLeader(j.service); err != nil {
		return err
	}
	for n := (&replacement{incarnations: make([]proto.Incarnation, j.layout.Procs()), gone: make([]bool, j.layout.Procs())}); ; {
		var m control.Message
		select {
		case m = <-j.news:
		case carriedOut := <-j.lost: // what it said of the others still holds
			close(carriedOut)
			continue
		}
		switch m.Type {
		case control.Admit:
			n.incarnations[m.Proc] = m.Incarnation
			j.facts.admit(m)
			j.facts.healed(m.Proc, m.Incarnation) // long since
		case control.Death:
			n.incarnations[m.Proc], n.gone[m.Proc] = m.Incarnation, true
			j.facts.died(m.Proc, m.Incarnation)
		case control.Finalized:
			j.departed.Store(true)
		case control.Dismissed:
			j.dismissed(m.Code, m.Text)
		case control.Take:
			n.incarnations[m.Proc] = m.Incarnation
			j.self, j.replacement = m.Proc, n
			j.output = own
			j.joining.Store(true)
			j.waiting.Store(false)
			// These are about the process that was there from the start.
			os.Unsetenv(env.Fault)
			os.Unsetenv(env.Trace)
			return own.silence()
		}
	}
}

// dismissed ends a spare that the job doesn't need any more.
func (j *Job) dismissed(code int, text string) {
	if !j.waiting.Load() {
		return // it has a place, and ends as a process does
	}
	if code != 0 {
		fmt.Fprintf(os.Stderr, "banyan: spare process %d: %s\n", j.station, text)
	}
	j.pmi.Finalize()
	j.exit(code)
}

// findSpareLeader begins to look for the spare leader; own is this spare's service, nil if this isn't one. It asks for all addresses
// at once: later the launcher might be busy with deaths.
func (j *Job) findSpareLeader(own *spares.Service) error {
	first := proto.Proc(j.layout.Procs())
	addresses := make([]string, j.spares)
	for i := range addresses {
		address, err := j.pmi.Get(spareKey + strconv.Itoa(int(first)+i))
		if err != nil && !errors.Is(err, pmi.ErrNoKey) { // who died before had none
			return err
		}
		addresses[i] = address
	}
	j.spareLeader = spares.Connect(spares.ClientConfig{
		Meeting: handshake.Meeting{Self: j.station, Secret: j.secret},
		First:   first, Addresses: addresses, Silence: j.silence,
		Introduce: j.introduce,
		Heard:     j.hear,
		Lost:      j.lose,
		Own:       own,
	})
	return nil
}

// lose says that the spare leader has gone, and returns when that has been carried out, after all that was heard before. A
// replacement on its way ends then: if it came to the next spare leader first, it would be one of the job there.
func (j *Job) lose() {
	carriedOut := make(chan struct{})
	select {
	case j.lost <- carriedOut:
		<-carriedOut
	case <-j.done:
	}
}

func (j *Job) hear(m control.Message) {
	if !j.valid(m.Proc) {
		return
	}
	select {
	case j.news <- m:
	case <-j.done:
	}
}

// introduce gives what a spare leader must know.
func (j *Job) introduce() []control.Message {
	if j.waiting.Load() {
		all := []control.Message{{Type: control.Spare, Pid: os.Getpid(), Number: uint64(j.program)}}
		if j.departed.Load() {
			all = append(all, control.Message{Type: control.Finalized})
		}
		return all
	}
	return append([]control.Message{{
		Type: control.Member, Proc: j.self, Incarnation: j.replacement.of(j.self),
		Pid: os.Getpid(), Card: j.mesh.Card().String(), Number: uint64(j.program),
	}}, j.facts.tell()...)
}

// obey carries out what the spare leader says.
func (j *Job) obey() {
	for {
		select {
		case m := <-j.news:
			j.carryOut(m)
		case carriedOut := <-j.lost:
			j.spareLeaderLost()
			close(carriedOut)
		case <-j.done:
			return
		}
	}
}

func (j *Job) carryOut(m control.Message) {
	switch m.Type {
	case control.Death:
		if m.Proc == j.self {
			if m.Incarnation >= j.replacement.of(j.self) {
				j.spareLeader.Close() // it has nothing to say to the next one either
				go j.stop("the job holds this process for dead: it stops")
			}
			return
		}
		j.facts.died(m.Proc, m.Incarnation)
		j.Engine.Evidence(m.Proc, m.Incarnation)
	case control.Admit:
		if m.Proc != j.self {
			j.facts.admit(m)
			j.silent.forget(m.Proc)
			j.Engine.Admit(m.Proc, m.Incarnation)
		}
	case control.Donate:
		j.Engine.Help(m.Proc, m.Incarnation)
	case control.Healed:
		j.facts.healed(m.Proc, m.Incarnation)
	case control.Dismissed:
		if j.joining.Load() {
			j.pmi.Finalize()
			j.exit(m.Code)
		}
	}
}

// spareLeaderLost is what the end of a spare leader means for what it had begun.
func (j *Job) spareLeaderLost() {
	if j.joining.Load() { // nobody else knows what it is; the next spare leader takes another
		j.pmi.Finalize()
		j.exit(0)
	}
	// Nor does anybody know what becomes of a replacement that was on its way.
	if p, incarnation, is := j.facts.unfinished(); is && p != j.self {
		j.Engine.Evidence(p, incarnation)
	}
}

// keepStreams notes what this spare has as stdout and stderr.
func keepStreams() (*output, error) {
	var o output
	for i := range o {
		fd, err := unix.FcntlInt(uintptr(i+1), unix.F_DUPFD_CLOEXEC, 3)
		if errors.Is(err, unix.EBADF) {
			fd = -1 // it is closed
		} else if err != nil {
			return nil, os.NewSyscallError("fcntl", err)
		}
		o[i] = fd
	}
	return &o, nil
}

// silence makes stdout and stderr /dev/null, until connect.
func (o *output) silence() error {
	null, err := unix.Open(os.DevNull, unix.O_WRONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return &os.PathError{Op: "open", Path: os.DevNull, Err: err}
	}
	defer unix.Close(null)
	for i, fd := range o {
		if fd >= 0 {
			if err := unix.Dup3(null, i+1, 0); err != nil {
				return os.NewSyscallError("dup3", err)
			}
		}
	}
	return nil
}
