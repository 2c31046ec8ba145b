package launcher

import (
	"golang.org/x/sys/unix"

	"banyan/internal/job/agent"
	"banyan/internal/job/control"
	"banyan/internal/job/launcher/output"
)

const (
	// inputAhead bounds the input kept for a replica that reads slowly, inputKept the input kept
	// for replacements.
	inputAhead = 1 << 20
	inputKept  = 64 << 20
)

// attachAll connects the first processes with the launcher's streams, its PMI server and its loop.
func (j *job) attachAll(stdout, stderr *output.Printer) {
	j.collectOutput(stdout, stderr)
	var inputs []sink
	for _, p := range j.procs {
		j.outputs.read(p)
		if p.hasInput() {
			inputs = append(inputs, sink{w: p.Stdin()})
		}
		j.attach(p, j.said, j.reaped)
	}
	j.outputs.endRanks(stdout, stderr)
	kept := 0
	if j.recovery != nil {
		kept = inputKept
	}
	j.feeder = newFeeder(inputAhead, kept, inputs)
	go j.feeder.run(j.Stdin)
}

// attach serves a process's PMI, and has the loop told what the process says and how it ends.
func (j *job) attach(p *process, said func(p *process, m control.Message), reaped func(p *process, end agent.End)) {
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
