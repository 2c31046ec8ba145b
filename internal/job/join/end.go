package join

import (
	"errors"
	"fmt"
	"os"
	"sync/atomic"
	"time"

	"banyan/internal/proto"
	"banyan/internal/runtime/process"
)

// ending is how far this process has come at its end.
type ending struct {
	leaving atomic.Bool   // it ends as the program wants, in order or not
	left    atomic.Bool   // Leave was called
	done    chan struct{} // closed by Leave: watch no longer
	watched chan struct{} // closed when watch has returned
	exit    func(code int)
}

func newEnding() ending {
	return ending{done: make(chan struct{}), watched: make(chan struct{}), exit: os.Exit}
}

// heldForDead is why a process stops that the job has excluded.
const heldForDead = "the job holds this process for dead: it stops"

func aborted(code int, why string) error { return fmt.Errorf("it aborted with code %d: %s", code, why) }

// end leaves the job's end to the launcher. If there is none, it ends this process. rank is the
// lost one, or proto.AnyRank if another process has aborted the job.
func (j *Job) end(rank proto.Rank, code int, why string) {
	if !j.leaving.Load() {
		j.supervisor.rankLost(rank, code, why)
	}
}

// stop ends this process. The job goes on without it. A launcher is about to kill it.
func (j *Job) stop(why string) {
	if j.leaving.Load() {
		return
	}
	j.supervisor.awaitKill()
	j.stderr("process %d: %s", j.self, why)
	j.exit(1)
}

// AwaitEnd waits for the end that the loss of a rank, which an error names, brings to the job, if
// this program hasn't asked to survive it. It is for a program that can't go on without the rank.
// Its own exit, a moment before the launcher knows of the loss, would be reported as the cause. It
// returns when the job goes on without the rank since another process has asked for that.
func (j *Job) AwaitEnd(err error) {
	lost := (*process.LostError)(nil)
	if j.survive.Load() || !errors.As(err, &lost) {
		return
	}
	for deadline := time.Now().Add(2 * j.lossGrace()); time.Now().Before(deadline) && !j.supervisor.announced(lost.Rank); {
		time.Sleep(time.Millisecond)
	}
}

// Abort ends the whole job with an exit code, unless the job holds this process for dead and goes
// on without it: then the program's error is a consequence of that. Abort doesn't return.
func (j *Job) Abort(code int, why string) {
	if j.Engine.Fenced() {
		j.stop(heldForDead)
		j.exit(1)
	}
	j.abort(nil, code, why)
}

// AbortRanks ends some ranks with an exit code, if the program handles the loss of ranks, and else
// the whole job. It doesn't return if this rank is one of them.
func (j *Job) AbortRanks(ranks []proto.Rank, code int, why string) {
	if j.Engine.Fenced() {
		j.stop(heldForDead)
		j.exit(1)
	}
	var group []proto.Proc
	for _, r := range ranks {
		for k := range j.layout.Degree(r) {
			group = append(group, j.layout.Proc(r, k))
		}
	}
	j.abort(group, code, why)
}

func (j *Job) abort(group []proto.Proc, code int, why string) {
	j.supervisor.abort(group, code, why)
	j.exit(code)
}

// Leave waits until all processes are ready to leave, and leaves. Only the first call does
// anything.
func (j *Job) Leave() error {
	if j.left.Swap(true) {
		return nil
	}
	j.leaveConnections()
	j.checking.end()
	j.supervisor.through()
	err := j.Engine.Finish()
	if diverged := (*process.DivergedError)(nil); errors.As(err, &diverged) {
		j.Abort(1, err.Error())
	}
	j.leaving.Store(true)
	close(j.done)
	<-j.watched
	for len(j.Engine.Events()) > 0 {
		// Deaths found on the way out: the launcher has to kill the processes that are silent.
		j.handle(<-j.Engine.Events())
	}
	if errors.Is(err, process.ErrFenced) {
		return err // this end is not in order
	}
	j.supervisor.leave()
	j.launcher.Finalize()
	return err
}
