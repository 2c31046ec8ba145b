package join

import (
	"errors"
	"fmt"
	"os"
	"strconv"

	"golang.org/x/sys/unix"

	"banyan/internal/job/control"
	"banyan/internal/job/env"
	"banyan/internal/job/spares"
	"banyan/internal/proto"
	"banyan/internal/runtime/handshake"
)

// What a spare does until it has a slot.

// awaitSlot waits until this spare is given a slot, and makes it the replacement there. If the
// job ends first, this process ends.
func (s *spareLed) awaitSlot() error {
	j := s.job
	if !j.isSpare() {
		return nil
	}
	own, err := keepStreams()
	if err != nil {
		return err
	}
	s.stage.set(waiting)
	if err := s.serve(); err != nil {
		return err
	}
	if err := j.launcher.Put(spareKey+strconv.Itoa(int(j.launcherRank)), s.service.Address()); err != nil {
		return err
	}
	if err := j.launcher.Barrier(); err != nil {
		return err
	}
	if err := s.connect(); err != nil {
		return err
	}
	j.self, j.replacement = s.hearUntilTaken()
	j.output = own
	s.stage.set(joining)
	// These are about the process that was there from the start.
	os.Unsetenv(env.Fault)
	os.Unsetenv(env.Trace)
	return own.silence()
}

// serve starts the service with which this spare can become the spare leader.
func (s *spareLed) serve() (err error) {
	j := s.job
	notes := os.Stderr // it stays the launcher's, whatever the program does with its own
	if fd, err := unix.FcntlInt(2, unix.F_DUPFD_CLOEXEC, 3); err == nil {
		notes = os.NewFile(uintptr(fd), "stderr")
	}
	s.service, err = spares.Serve(j.meeting(), j.address, spares.ServiceConfig{
		Layout: j.layout, Spares: j.spares, Silence: j.timeout,
		Note: func(text string) { fmt.Fprintf(notes, "banyan: %s\n", text) },
		Refused: func(err error) {
			j.log.Debug("a stranger was refused", "spare", int(j.launcherRank), "reason", err)
		},
		Ended: s.dismissed,
	})
	return err
}

// meeting is how the processes of the job and its spares meet.
func (j *Job) meeting() handshake.Meeting {
	return handshake.Meeting{Self: j.launcherRank, Secret: j.secret, Sealing: j.sealing}
}

// hearUntilTaken notes what the spare leader says of the other processes, until it gives this
// spare a slot.
func (s *spareLed) hearUntilTaken() (proto.Proc, *replacement) {
	procs := s.job.layout.Procs()
	r := &replacement{incarnations: make([]proto.Incarnation, procs), gone: make([]bool, procs)}
	for {
		var m control.Message
		select {
		case m = <-s.news:
		case actedOn := <-s.lost: // what it said of the others still holds
			close(actedOn)
			continue
		}
		switch m.Type {
		case control.Admit:
			r.incarnations[m.Proc] = m.Incarnation
			s.facts.admit(m)
			s.facts.healed(m.Proc, m.Incarnation) // long ago
		case control.Death:
			r.incarnations[m.Proc], r.gone[m.Proc] = m.Incarnation, true
			s.facts.died(m.Proc, m.Incarnation)
		case control.Finalized:
			s.jobEnding.Store(true)
		case control.Dismissed:
			s.dismissed(m.Code, m.Text)
		case control.Take:
			r.incarnations[m.Proc] = m.Incarnation
			return m.Proc, r
		}
	}
}

// dismissed ends a spare that the job doesn't need any more. One that has a slot ends as any
// process does.
func (s *spareLed) dismissed(code int, text string) {
	if !s.stage.is(waiting) {
		return
	}
	if code != 0 {
		s.job.stderr("spare process %d: %s", s.job.launcherRank, text)
	}
	s.exit(code)
}

// keepStreams duplicates this spare's stdout and stderr.
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

// silence makes stdout and stderr /dev/null until connect.
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
