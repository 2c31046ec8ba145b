package replication

import (
	"context"
	"errors"
	"os"

	"banyan/internal/job/launcher"
)

// Plan is what the paper's section 4 takes: figure 7, tables 1 and 2, what the protocols send, and
// what it left for later, deaths. Each run is told to [Bench.Record].
type Plan struct {
	MPICC        string // compiles the ping-pong; "": it is Go's
	Sizes        []int  // of its messages
	PingPongs    int    // rounds
	Applications []Application
	Rounds       int      // of the applications
	Share        int      // the project's own programs do a half, a third … of their usual work
	Mirrored     bool     // the applications run with the mirror protocol, too
	Transports   []string // of the failover
	Kills        int      // on each transport, with each protocol
	// Counted are the sizes of messages whose instructions are counted, in the library of Bin.
	Counted []int
	Bin     string
}

// Scale is how much is measured.
type Scale uint8

// Scales. On two cores Quick takes a minute, Default a quarter of an hour, and Full an hour and a
// half, with the project's own applications.
const (
	Quick Scale = iota
	Default
	Full
)

// PlanOf is the plan of a scale, without applications.
func PlanOf(s Scale) Plan {
	p := Plan{Sizes: Sizes(), PingPongs: 12, Rounds: 18, Share: 1, Transports: []string{launcher.TransportSHM, launcher.TransportTCP}, Kills: 10}
	switch s {
	case Quick:
		p.Sizes, p.PingPongs = []int{1, 512, 64 << 10}, 6
		p.Rounds, p.Share = 6, 25
		p.Kills = 2
	case Full:
		p.PingPongs, p.Rounds, p.Mirrored, p.Kills = 60, 80, true, 50
	}
	return p
}

// of figure 7, and of what is sent.
var (
	pingPongSettings = []Setting{Parallel, Mirror, Each}
	trafficSettings  = []Setting{Alone, Parallel, Mirror, Each}
)

// applicationSettings are those with replicas.
func (p *Plan) applicationSettings() []Setting {
	if p.Mirrored {
		return []Setting{Parallel, Mirror}
	}
	return []Setting{Parallel}
}

// Steps is how often Progress is called.
func (p *Plan) Steps() int {
	return p.Rounds*len(p.Applications)*(1+len(p.applicationSettings())) +
		p.PingPongs*len(p.Sizes)*(2+len(pingPongSettings)) +
		4*len(p.Counted) + len(trafficSettings) + 2*len(p.Transports)*p.Kills
}

// Carry carries a plan out. The applications come first, since a program of the user's may turn
// out not to run. The seed draws whom the failover kills, and when.
func (b *Bench) Carry(ctx context.Context, p Plan, seed uint64) error {
	languages, err := b.Languages(ctx, p.MPICC)
	if err != nil {
		return err
	}
	applications, pings := *b, *b
	applications.Rounds, applications.Settings = p.Rounds, p.applicationSettings()
	pings.Rounds, pings.Settings = p.PingPongs, pingPongSettings
	if _, err := applications.Runs(ctx, p.Applications); err != nil {
		return err
	}
	if _, err := pings.PingPongs(ctx, languages[:1], p.Sizes); err != nil {
		return err
	}
	if err := b.Traffic(ctx, trafficSettings); err != nil {
		return err
	}
	if len(p.Counted) > 0 {
		// A machine may forbid to count.
		if _, err := b.Instructions(ctx, p.Bin, p.Counted); err != nil && !errors.Is(err, os.ErrPermission) {
			return err
		}
	}
	_, err = b.Pauses(ctx, p.Transports, p.Kills, seed)
	return err
}
