package membership

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"time"

	"banyan/bench/processes"
	"banyan/internal/study/planning/risk"
)

const (
	// startLimit bounds the time until a group has all its members, changeLimit a change.
	startLimit  = 2 * time.Minute
	changeLimit = 30 * time.Second
	// maxJoining is how many members may be joining the group at once.
	maxJoining = 16
	// look is how often the bench looks at the scoreboard during a change.
	look = time.Millisecond
)

// crew is a group of members that goes through one change after the other, each time
// with as many members as at the first.
type crew struct {
	Setting
	ctx        context.Context
	scoreboard *scoreboard
	ensemble   *ensemble
	secret     []byte
	gather     time.Duration
	rng        *rand.Rand
	live       []int // rows
	next       int   // row that hasn't been used yet
}

// assemble brings the group of a setting up, with room for as many changes as the plan has runs.
func assemble(ctx context.Context, p *Plan, s Setting) (*crew, error) {
	b, err := newScoreboard(s.N + p.Runs*max(1, s.Fault.Deaths()))
	if err != nil {
		return nil, err
	}
	c := &crew{Setting: s, ctx: ctx, scoreboard: b, secret: newSecret(), gather: p.Gather, rng: rand.New(rand.NewPCG(p.Seed, 0))}
	if c.ensemble, err = newEnsemble(p.Again, b, p.apart(&s), s.N); err != nil {
		b.Close()
		return nil, err
	}
	if err := c.fill(s.N); err != nil {
		c.close()
		return nil, err
	}
	return c, nil
}

// close ends all members.
func (c *crew) close() {
	c.ensemble.close()
	c.scoreboard.Close()
}

// fill starts members that join until there are so many.
func (c *crew) fill(n int) error {
	var coming []int
	if len(c.live) == 0 { // the founder
		if err := c.enter(&coming); err != nil {
			return err
		}
	}
	deadline := time.Now().Add(startLimit)
	for len(c.live)+len(coming) < n || len(coming) > 0 {
		coming = slices.DeleteFunc(coming, func(row int) bool {
			is := c.scoreboard.word(row, wordState).Load() == up
			if is {
				c.live = append(c.live, row)
			}
			return is
		})
		for len(c.live) > 0 && len(c.live)+len(coming) < n && len(coming) < maxJoining {
			if err := c.enter(&coming); err != nil {
				return err
			}
		}
		if err := c.pause(look, coming); err != nil {
			return err
		}
		if time.Now().After(deadline) {
			return c.ensemble.fail(fmt.Sprintf("%d members, %v first, haven't joined after %v", len(coming), coming[:min(5, len(coming))], startLimit))
		}
	}
	return c.agree(n, 0, startLimit)
}

// enter starts a member, which asks a live one, if there is any, to let it join.
func (c *crew) enter(coming *[]int) error {
	t := task{Scoreboard: c.scoreboard.Path(), Rows: c.scoreboard.rows, Row: c.next, Arity: c.Arity, Gather: c.gather, Secret: c.secret}
	for _, row := range c.live[:min(len(c.live), 3)] {
		t.Seeds = append(t.Seeds, c.scoreboard.address(row))
	}
	*coming = append(*coming, c.next)
	c.next++
	return c.ensemble.start(t)
}

// pause waits a little. It returns an error if the run is to end.
func (c *crew) pause(span time.Duration, coming []int) error {
	select {
	case <-c.ctx.Done():
		return c.ctx.Err()
	case <-time.After(span):
	}
	for _, row := range slices.Concat(c.live, coming) {
		if c.scoreboard.word(row, wordState).Load() == over {
			return c.ensemble.fail(fmt.Sprintf("member %d has ended by itself", row))
		}
	}
	return nil
}

// agree waits until all live members have one view after the base, of so many members.
func (c *crew) agree(members int, base int64, limit time.Duration) error {
	for deadline := time.Now().Add(limit); ; {
		number, behind := c.scoreboard.word(c.live[0], wordNumber).Load(), -1
		for _, row := range c.live {
			n, has := c.scoreboard.word(row, wordNumber).Load(), c.scoreboard.word(row, wordMembers).Load()
			if n != number || n <= base || has != int64(members) || c.scoreboard.word(row, wordState).Load() != up {
				behind = row
				break
			}
		}
		if behind < 0 {
			return nil
		}
		if time.Now().After(deadline) {
			return c.ensemble.fail(fmt.Sprintf("member %d has view %d of %d members after %v: want one of %d", behind,
				c.scoreboard.word(behind, wordNumber).Load(), c.scoreboard.word(behind, wordMembers).Load(), limit, members))
		}
		if err := c.pause(look, nil); err != nil {
			return err
		}
	}
}

// The bench waits before each change until no member has sent a message of the membership for so
// long. In that time the members make the connections that the change may need. It waits a little
// after each change too, until all messages have been counted.
func (c *crew) rest() time.Duration {
	return 150*time.Millisecond + time.Duration(c.N)*5*time.Millisecond
}

const aftermath = 20 * time.Millisecond

// settle waits until no member has sent a message of the membership for a while.
func (c *crew) settle(quiet time.Duration) error {
	for deadline, before := time.Now().Add(startLimit), int64(-1); ; {
		agreement, commits, others := c.sent()
		sum := agreement + commits + others
		if sum == before {
			return nil
		}
		if before = sum; time.Now().After(deadline) {
			return c.ensemble.fail(fmt.Sprintf("the group isn't quiet after %v", startLimit))
		}
		if err := c.pause(quiet, nil); err != nil {
			return err
		}
	}
}

// sent counts the messages of all members that there ever were.
func (c *crew) sent() (agreement, commits, others int64) {
	for row := range c.next {
		agreement += c.scoreboard.word(row, wordAgreement).Load()
		commits += c.scoreboard.word(row, wordCommits).Load()
		others += c.scoreboard.word(row, wordOthers).Load()
	}
	return agreement, commits, others
}

// coordinator is the index in live of the member that had all acknowledgements for the view in
// force.
func (c *crew) coordinator() int {
	for i, row := range c.live {
		if c.scoreboard.word(row, wordStable).Load() == c.scoreboard.word(row, wordNumber).Load() {
			return i
		}
	}
	return -1
}

// change does what the setting says, waits until all live members have the resulting view, and
// restores the group.
func (c *crew) change() (Row, error) {
	row := Row{Setting: c.Setting}
	if err := c.settle(c.rest()); err != nil {
		return row, err
	}
	leader := c.coordinator()
	if leader < 0 {
		return row, c.ensemble.fail("the group has no coordinator")
	}
	base := c.scoreboard.word(c.live[leader], wordNumber).Load()
	c.scoreboard.base().Store(base)
	for row := range c.next {
		c.scoreboard.word(row, wordBegan).Store(0)
	}
	agreement, commits, _ := c.sent()
	worked := c.ensemble.worked(c.live)
	struck := processes.Monotonic()
	joined, err := c.strike(leader)
	if err != nil {
		return row, err
	}
	if err := c.agree(len(c.live), base, changeLimit); err != nil {
		return row, err
	}
	var work time.Duration
	for pid, t := range c.ensemble.worked(c.live) {
		if before, was := worked[pid]; was {
			work += t - before
		}
	}
	if err := c.settle(aftermath); err != nil {
		return row, err
	}
	if err := c.read(&row, struck); err != nil {
		return row, err
	}
	row.Busy = work.Seconds() / (float64(runtime.NumCPU()) * float64(row.All))
	allAgreement, allCommits, _ := c.sent()
	row.Commits = int(allCommits - commits)
	row.Messages = int(allAgreement-agreement) + row.Commits
	if joined >= 0 {
		return row, c.restore(joined)
	}
	return row, c.fill(c.N)
}

// strike makes the fault happen. It returns the row of a member that has joined, or -1.
func (c *crew) strike(leader int) (joined int, err error) {
	if c.Fault.Kind == Join {
		var coming []int
		if err := c.enter(&coming); err != nil {
			return -1, err
		}
		joined = coming[0]
		c.live = append(c.live, joined)
		return joined, nil
	}
	victims := []int{c.live[leader]}
	if c.Fault.Kind != Root {
		others := slices.Delete(slices.Clone(c.live), leader, leader+1)
		c.rng.Shuffle(len(others), func(i, j int) { others[i], others[j] = others[j], others[i] })
		victims = others[:c.Fault.Deaths()]
	}
	c.live = slices.DeleteFunc(c.live, func(row int) bool { return slices.Contains(victims, row) })
	return -1, c.ensemble.kill(victims)
}

// restore takes a member out that has joined, or fills the group up again.
func (c *crew) restore(joined int) error {
	base := c.scoreboard.word(joined, wordNumber).Load()
	c.live = slices.DeleteFunc(c.live, func(row int) bool { return row == joined })
	if err := c.ensemble.kill([]int{joined}); err != nil {
		return err
	}
	return c.agree(c.N, base, changeLimit)
}

// read takes the times of a change from the scoreboard.
func (c *crew) read(r *Row, struck int64) error {
	leader := c.coordinator()
	if leader < 0 {
		return c.ensemble.fail("nobody had all acknowledgements for the new view")
	}
	began, first, installed := int64(0), int64(0), int64(0)
	for row := range c.next {
		if at := c.scoreboard.word(row, wordBegan).Load(); at != 0 && (began == 0 || at < began) {
			began = at
		}
	}
	for _, row := range c.live {
		at := c.scoreboard.word(row, wordInstalled).Load()
		if first == 0 || at < first {
			first = at
		}
		installed = max(installed, at)
	}
	stable := c.scoreboard.word(c.live[leader], wordStableAt).Load()
	if began == 0 && len(c.live) == 1 {
		began = stable // a member that is alone has no member to propose to
	}
	if began == 0 || stable < began || installed < stable {
		return c.ensemble.fail(fmt.Sprintf("a change began at %d, was stable at %d and installed at %d ns", began, stable, installed))
	}
	const ns = 1e-9
	r.Stabilise, r.Commit = risk.Seconds(stable-began)*ns, risk.Seconds(installed-began)*ns
	r.First, r.All = risk.Seconds(first-struck)*ns, risk.Seconds(installed-struck)*ns
	return nil
}
