package launcher

import (
	"golang.org/x/sys/unix"

	"banyan/internal/job/agent"
	"banyan/internal/job/control"
)

const (
	// inputAhead bounds the input kept for a replica that reads slowly, inputKept the input kept
	// for replacements.
	inputAhead = 1 << 20
	inputKept  = 64 << 20
)

// attachAll connects the first processes with the launcher's streams, its PMI server and its loop.
func (j *job) attachAll() {
	j.collectOutput()
	var inputs []sink
	for _, p := range j.procs {
		j.outputs.read(p)
		j.recording.collect(p)
		if p.hasInput() {
			inputs = append(inputs, sink{w: p.Stdin()})
		}
		j.attach(p, j.said, j.reaped)
	}
	j.outputs.endRanks()
	j.feeder = newFeeder(inputAhead, j.inputKept(), inputs)
	go j.feeder.run(j.Stdin)
}

// inputKept is how much input is kept for replacements.
func (j *job) inputKept() int {
	if j.recovery == nil && j.back == nil {
		return 0
	}
	return inputKept
}

// attach serves a process's PMI, and has the loop told what the process says and how it ends.
func (j *job) attach(p *process, said func(p *process, m control.Message), reaped func(p *process, end agent.End)) {
	if p.known { // to the launcher before: all were told, and only its output is left
		go p.Listen(func(control.Message) {})
		go func() {
			p.Wait()
			j.post(func() {
				end := j.ledger.entries[p.id].end
				p.setEnd(leftAll(end))
			})
		}()
		return
	}
	j.hosts.began(p)
	go j.server.Serve(int(p.id), p.PMI())
	go p.Listen(func(m control.Message) { j.post(func() { said(p, m) }) })
	go func() {
		end, err := p.Wait()
		if err != nil {
			j.post(func() { j.missed(p) })
		} else {
			j.post(func() { reaped(p, end) })
		}
	}()
}

// discard ends a process to which the job isn't attached.
func discard(p agent.Process) {
	p.Signal(unix.SIGKILL)
	go p.Listen(func(control.Message) {})
	p.Wait()
	if in := p.Stdin(); in != nil {
		in.Close()
	}
	p.Stdout().Close()
	p.Stderr().Close()
	p.PMI().Close()
}
