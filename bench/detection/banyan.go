package detection

import (
	"fmt"
	"os"
	"strings"
	"time"

	"banyan/internal/job/env"
	"banyan/internal/job/join"
	"banyan/internal/job/launcher"
	"banyan/internal/proto/detector"
	"banyan/internal/runtime/engine"
)

// joinBanyan makes the process a member of a job. takePart is the job's program: it does
// nothing, or computes.
func (t task) joinBanyan(b *scoreboard, address string) (sent func() int64, err error) {
	os.Setenv(env.Address, address)
	j, err := join.Join(join.Options{
		SurviveRankLoss: true,
		Heard: func(e engine.Event) {
			if e.Kind == engine.Died {
				b.learn(t.Member, int(e.Report.Proc), int(e.Report.Cause))
			}
		},
	})
	if err != nil {
		return nil, err
	}
	return func() int64 { return int64(j.Engine.FramesSent()) }, nil
}

// causeOf says why a member of Banyan took another for dead.
func causeOf(how int64) string { return detector.Cause(how).String() }

// launch starts the members as banyan run does.
func (t task) launch() error {
	member := t
	member.Role = roleMember
	report, err := launcher.Run(launcher.Config{
		Ranks: t.N, Replicas: 1, Program: t.Again[0], Args: t.Again[1:],
		Env:             append(os.Environ(), member.env()),
		Transport:       launcher.TransportTCP,
		HeartbeatPeriod: t.Period, HeartbeatTimeout: t.Timeout,
		Stdin: strings.NewReader(""), Stdout: os.Stderr, Stderr: os.Stderr,
	})
	if err != nil {
		return err
	}
	if b, err := openScoreboard(t.Scoreboard, t.N); err == nil && b.anyAccused() {
		time.Sleep(24 * time.Hour) // all have been taken for dead: a result, not a failure
	}
	return fmt.Errorf("the job of members is over: %s %s", report.Outcome, report.Reason)
}
