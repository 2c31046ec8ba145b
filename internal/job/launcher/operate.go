package launcher

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"

	"banyan/internal/job/status"
)

// operate does what somebody wants who watches the job. It is a status.Operator.
func (j *job) operate(q status.Request) (said string, err error) {
	if !j.ask(func() {
		if j.ending {
			err = errors.New("the job ends")
			return
		}
		if said, err = j.obey(q); err == nil {
			j.operated = append(j.operated, status.Event{At: seconds(j.clock()), Kind: status.KindRequest, Text: said})
			j.note(said)
		}
	}) {
		return "", errEnded
	}
	return said, err
}

// obey does it, in the loop.
func (j *job) obey(q status.Request) (said string, err error) {
	switch q.Action {
	case status.Kill:
		if q.Process < 0 || q.Process >= len(j.procs) {
			return "", fmt.Errorf("there is no process %d", q.Process)
		}
		p := j.procs[q.Process]
		switch {
		case j.ledger.entries[p.id].end.kind != running:
			return "", fmt.Errorf("%s doesn't run", j.name(p))
		case !j.hasSibling(p) && j.back == nil:
			return "", fmt.Errorf("%s is the last of its rank, which would be lost", j.name(p))
		}
		p.Signal(unix.SIGKILL)
		return j.name(p) + " is killed, as somebody who watches has asked", nil
	case status.Heal:
		if j.recovery == nil {
			return "", errors.New("no process is replaced in this job, which was started without --heal")
		}
		again := j.recovery.Retry()
		if len(again) == 0 {
			return "", errors.New("no process stays dead: those that are dead are replaced as soon as another replica comes to a safe point, and a host has room")
		}
		j.beginAttempts()
		return fmt.Sprintf("%d processes that stayed dead are replaced after all, as somebody who watches has asked", len(again)), nil
	case status.Drain:
		if q.Host < 0 || q.Host >= len(j.hosts.found) {
			return "", fmt.Errorf("there is no host %d", q.Host)
		}
		name := j.hosts.name(q.Host)
		if j.hosts.drains[q.Host] != nil {
			return "", fmt.Errorf("%s is drained already", name)
		}
		if _, err := j.beginDrains([]string{name}, false, 0); err != nil {
			return "", err
		}
		return "host " + name + " is drained, as somebody who watches has asked", nil
	case status.Trace:
		return j.beginSpan()
	}
	return "", fmt.Errorf("%q is nothing that can be done: want %s, %s, %s or %s", q.Action, status.Kill, status.Heal, status.Drain, status.Trace)
}
