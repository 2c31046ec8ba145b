package join

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"time"

	"banyan/internal/job/env"
	"banyan/internal/layout"
	"banyan/internal/proto"
	"banyan/internal/proto/broadcast"
	"banyan/internal/runtime/engine"
	"banyan/internal/runtime/process"
	"banyan/internal/runtime/transport/inproc"
)

// localTimeout is longer than any job. A goroutine is silent only if the machine holds up the
// whole process, and inproc reports the death of one.
const localTimeout = 100_000 * time.Hour

// LocalConfig describes a job whose processes are goroutines of this one.
type LocalConfig struct {
	Ranks, Replicas int
	// SharedMemory lets the members choose algorithms as if they were processes of one host.
	SharedMemory bool
	// Scheme is what broadcasts run, if it is named, which env.Bcast may do under a launcher.
	Scheme broadcast.Scheme
}

// Member is one process of a local job.
type Member struct {
	Engine *engine.Engine
	self   proto.Proc
	net    *inproc.Network
}

// Local makes the processes of a local job. Under "banyan run --transport inproc" they write
// traces if the launcher asks for them.
func Local(cfg LocalConfig) ([]*Member, error) {
	runtime.GOMAXPROCS(max(minProcs, runtime.GOMAXPROCS(0)))
	launched, err := LocalRanks()
	if err != nil {
		return nil, err
	}
	scheme := cfg.Scheme
	if launched > 0 {
		if scheme, err = env.ReadBcast(); err != nil {
			return nil, err
		}
	}
	layout := layout.Uniform(cfg.Ranks, cfg.Replicas)
	configs := make([]process.Config, layout.Procs())
	for i := range configs {
		configs[i] = process.Config{
			Self: proto.Proc(i), Layout: layout,
			Period: proto.Time(env.DefaultHeartbeatPeriod), Timeout: proto.Time(localTimeout),
			SharedMemory: cfg.SharedMemory, Scheme: scheme,
		}
		if cfg.SharedMemory {
			configs[i].Hosts = make([]int32, layout.Procs())
		}
		if launched > 0 {
			if err := record(&configs[i]); err != nil {
				return nil, err
			}
		}
	}
	net := inproc.NewNetwork(layout.Procs())
	members := make([]*Member, layout.Procs())
	for i := range members {
		p := proto.Proc(i)
		members[i] = &Member{
			Engine: engine.New(engine.Config{
				Process:        configs[i],
				Oversubscribed: layout.Procs() > runtime.NumCPU(),
			}, net.Endpoint(p)),
			self: p,
			net:  net,
		}
	}
	return members, nil
}

// Leave waits until all members are ready to leave, and leaves.
func (m *Member) Leave() error {
	err := m.Engine.Finish()
	if diverged := (*process.DivergedError)(nil); errors.As(err, &diverged) {
		m.Die() // the others would wait for it
	}
	return err
}

// Die ends the member as a crash would. The others notice.
func (m *Member) Die() {
	m.net.Kill(m.self)
	m.Engine.Close()
}

// Abort ends the whole process: all members are in it.
func (m *Member) Abort(code int, why string) {
	fmt.Fprintf(os.Stderr, "banyan: process %d aborts the job: %s\n", m.self, why)
	os.Exit(code)
}
