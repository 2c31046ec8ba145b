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
	// Leader says that one replica of each rank decides what timing decides (--order leader).
	Leader bool
	// SharedMemory lets the members choose algorithms as if they were processes of one host.
	SharedMemory bool
	// Scheme is what broadcasts run, if it is named, which env.Bcast may do under a launcher.
	Scheme broadcast.Scheme
	// Faults is a fault plan, carried out as far as goroutines allow; see localfault.go.
	Faults string
	// TypeName names the types of data that the program sends; see process.Config.
	TypeName func(t uint32) string
}

// Member is one process of a local job.
type Member struct {
	Engine *engine.Engine
	self   proto.Proc
	net    *inproc.Network
	struck struck
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
	faults, timeout, err := cfg.resolve()
	if err != nil {
		return nil, err
	}
	configs := make([]process.Config, layout.Procs())
	for i := range configs {
		configs[i] = process.Config{
			Self: proto.Proc(i), Layout: layout,
			Period: proto.Time(env.DefaultHeartbeatPeriod), Timeout: proto.Time(timeout),
			Leader:       cfg.Leader,
			SharedMemory: cfg.SharedMemory, Scheme: scheme, TypeName: cfg.TypeName,
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
		m := &Member{self: p, net: net}
		own := ofMember(faults, int(layout.Rank(p)), layout.Replica(p))
		m.struck.begin(own)
		m.Engine = engine.New(engine.Config{
			Process:    configs[i],
			Crowd:      (layout.Procs() + runtime.NumCPU() - 1) / runtime.NumCPU(),
			BeforeSend: striking(own, m.strike),
		}, net.Endpoint(p))
		members[i] = m
	}
	for _, m := range members {
		m.struck.start(m)
	}
	return members, nil
}

// Leave waits until all members are ready to leave, and leaves.
func (m *Member) Leave() error {
	m.struck.stop()
	err := m.Engine.Finish()
	if diverged := (*process.DivergedError)(nil); errors.As(err, &diverged) {
		m.Die() // the others would wait for it
	}
	return err
}

// Die ends the member as a crash would. The others notice.
func (m *Member) Die() {
	m.struck.stop()
	m.net.Kill(m.self)
	m.Engine.Close()
}

// Abort ends the whole process: all members are in it.
func (m *Member) Abort(code int, why string) {
	fmt.Fprintf(os.Stderr, "banyan: process %d aborts the job: %s\n", m.self, why)
	os.Exit(code)
}
