package job

import (
	"fmt"
	"os"
	"runtime"

	"banyan/internal/process"
	"banyan/internal/progress"
	"banyan/internal/proto"
	"banyan/internal/proto/replica"
	"banyan/internal/transport/inproc"
)

// LocalConfig is a job whose processes are goroutines of this one.
type LocalConfig struct {
	Ranks, Replicas int
}

// Member is one process of a local job.
type Member struct {
	Engine *progress.Engine
	self   proto.Proc
	net    *inproc.Network
}

// Local makes the processes of a local job.
func Local(cfg LocalConfig) []*Member {
	runtime.GOMAXPROCS(max(minProcs, runtime.GOMAXPROCS(0)))
	layout := replica.Layout{Ranks: cfg.Ranks, Degree: cfg.Replicas}
	net := inproc.NewNetwork(layout.Procs())
	members := make([]*Member, layout.Procs())
	for i := range members {
		p := proto.Proc(i)
		members[i] = &Member{
			Engine: progress.New(progress.Config{
				Process: process.Config{
					Self: p, Layout: layout,
					Period: proto.Time(DefaultPeriod), Timeout: proto.Time(DefaultTimeout),
				},
				Crowded: layout.Procs() > runtime.NumCPU(),
			}, net.Endpoint(p)),
			self: p,
			net:  net,
		}
	}
	return members
}

// Leave waits until everyone is ready to leave, and leaves.
func (m *Member) Leave() error { return m.Engine.Finish() }

// Die ends the member as a crash would; the others notice.
func (m *Member) Die() {
	m.net.Kill(m.self)
	m.Engine.Close()
}

// Abort ends the whole process: all members are in it.
func (m *Member) Abort(code int, why string) {
	fmt.Fprintf(os.Stderr, "banyan: process %d aborts the job: %s\n", m.self, why)
	os.Exit(code)
}
