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
	Rounds       int // of the applications
	Share        int // the project's own programs do a half, a third … of their usual work
	Mirrored     int // so many rounds of the applications run with the mirror protocol, too
	Sideline     int // so many rounds of the ping-pong run what no claim is about; 0: all
	// Narrow and NarrowPingPong end an application's rounds, and those of a size of the ping-pong,
	// as [Bench.Narrow] says.
	Narrow, NarrowPingPong float64
	Transports             []string // of the failover
	Kills                  int      // on each transport, with each protocol
	// Counted are the sizes of messages whose instructions are counted, in the library of Bin.
	Counted []int
	Bin     string
}

// Scale is how much is measured.
type Scale uint8

// Scales. On two cores, with the project's own applications, Quick takes a minute, Default a
// quarter of an hour, and Full up to an hour: it ends where intervals tell what the claims ask.
// That is 5 % of an application, for which 6 points will do as those that were measured have 0 to
// 2 %, and 25 % of a ping-pong.
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
		p.PingPongs, p.NarrowPingPong, p.Sideline = 60, .15, 12
		p.Rounds, p.Narrow, p.Mirrored = 80, .06, 12
		p.Kills = 25
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
	if p.Mirrored > 0 {
		return []Setting{Parallel, Mirror}
	}
	return []Setting{Parallel}
}

// sidelined are the settings of the ping-pong that no claim is about: one that is for a comparison,
// and those that explain.
func (p *Plan) sidelined() []Setting { return []Setting{Alone, Mirror, Each} }

// sideline is how many rounds run them.
func (p *Plan) sideline() int {
	if p.Sideline == 0 {
		return p.PingPongs
	}
	return min(p.Sideline, p.PingPongs)
}

// Steps is how often Progress is called.
func (p *Plan) Steps() int {
	applications := 2*p.Rounds + min(p.Mirrored, p.Rounds)
	pings := 2*p.PingPongs + len(p.sidelined())*p.sideline()
	return applications*len(p.Applications) + pings*len(p.Sizes) +
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
	applications.Rounds, applications.Settings, applications.Narrow = p.Rounds, p.applicationSettings(), p.Narrow
	applications.Brief = map[Setting]int{Mirror: p.Mirrored}
	pings.Rounds, pings.Settings, pings.Narrow = p.PingPongs, pingPongSettings, p.NarrowPingPong
	pings.Brief = map[Setting]int{}
	for _, s := range p.sidelined() {
		pings.Brief[s] = p.sideline()
	}
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
