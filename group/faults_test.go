package group_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"banyan/group"
	"banyan/internal/testing/hosts"
)

var (
	sequences = flag.Int("sequences", 6, "fault sequences on processes")
	seed      = flag.Uint64("seed", 1, "of the first one")
)

func TestMain(m *testing.M) {
	if encoded, ok := os.LookupEnv(memberEnv); ok {
		os.Exit(memberProcess(encoded))
	}
	if code, done := hosts.Reexec(); done {
		os.Exit(code)
	}
	// They wait, mostly.
	flag.Set("test.parallel", "8")
	flag.Parse() // the command line's goes before it
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("banyan/group_test.lastingThread"))
}

// Processes are killed, stopped, started again under their names, join and leave, coordinators
// among them, in random sequences. Whoever is left in the end has the same view, and
// everything that anybody has ever seen fits together. `-sequences 1000` for more.
func TestFaultSequences(t *testing.T) {
	t.Parallel()
	n := *sequences
	if testing.Short() {
		n = min(n, 2)
	}
	var sum tally
	t.Cleanup(func() {
		t.Logf("%d sequences: %d lives had %d views; of them %d were killed, %d left, %d were excluded, %d ended in a minority",
			n, sum.lives, sum.views, sum.killed, sum.left, sum.excluded, sum.minority)
	})
	for i := range uint64(n) {
		t.Run(fmt.Sprint("seed=", *seed+i), func(t *testing.T) {
			t.Parallel()
			(&campaign{t: t, sum: &sum, start: startProcess, stops: true}).run(*seed + i)
		})
	}
}

// The same with members in this process, which can't be stopped.
func TestFaultSequencesInOne(t *testing.T) {
	t.Parallel()
	n := 12
	if testing.Short() {
		n = 3
	}
	for i := range uint64(n) {
		t.Run(fmt.Sprint("seed=", 1000+i), func(t *testing.T) {
			t.Parallel()
			(&campaign{t: t, sum: new(tally), start: startGuest}).run(1000 + i)
		})
	}
}

const (
	people = 9 // names
	// faultPeriod and faultSilence are η and δ.
	faultPeriod  = 15 * time.Millisecond
	faultSilence = 600 * time.Millisecond
	settleLimit  = 30 * time.Second
)

// person is a name, and whoever bears it.
type person struct {
	cfg     group.Config
	now     life // nil: nobody
	before  life // the last one
	stopped bool
	leaving bool
}

// tally is what became of all lives.
type tally struct {
	mu                                             sync.Mutex
	lives, views, killed, left, excluded, minority int
}

func (s *tally) add(l life) {
	h, _, _ := l.snapshot()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lives++
	s.views += len(h.views)
	switch h.end {
	case "":
		s.killed++
	case group.ErrLeft.Error():
		s.left++
	case group.ErrExcluded.Error():
		s.excluded++
	case group.ErrMinority.Error():
		s.minority++
	}
}

// campaign is one sequence of faults, and the group that suffers it.
type campaign struct {
	t     *testing.T
	sum   *tally
	start func(*testing.T, group.Config) life
	stops bool // members can be stopped

	r      *rand.Rand
	people [people]person
	lives  []life
	story  []string
	// spare is how many more may go without the loss of a quorum: of those who were
	// members when all agreed last, more than half must stay.
	spare int
}

func (c *campaign) note(format string, args ...any) {
	c.story = append(c.story, fmt.Sprintf(format, args...))
}

func (c *campaign) fatal(format string, args ...any) {
	c.t.Helper()
	c.t.Fatalf("%s\nafter: %s", fmt.Sprintf(format, args...), strings.Join(c.story, ", "))
}

func (c *campaign) run(seed uint64) {
	c.r = rand.New(rand.NewPCG(seed, 5))
	// A host of its own for the sequence: 127.x.y.z.
	net := fmt.Sprintf("127.%d.%d", 1+seed%250, 1+(seed/250+uint64(os.Getpid()))%250)
	var addresses []string
	for i := range c.people {
		addresses = append(addresses, fmt.Sprintf("%s.%d:7946", net, i+1))
	}
	for i := range c.people {
		c.people[i].cfg = group.Config{
			Name: fmt.Sprint("p", i), Listen: addresses[i], Seeds: addresses, Secret: secret,
			HeartbeatPeriod: faultPeriod, HeartbeatTimeout: faultSilence, Arity: 2 << (seed % 3),
		}
	}
	c.people[0].cfg.Seeds = nil
	c.join(0)
	c.people[0].cfg.Seeds = addresses
	c.settle()
	for i := 1; i < 3+c.r.IntN(4); i++ {
		c.join(i)
	}
	c.settle()
	for range 8 + c.r.IntN(8) {
		c.fault()
		if c.r.IntN(3) > 0 {
			time.Sleep(time.Duration(c.r.IntN(60)) * time.Millisecond)
		}
	}
	c.settle()
	c.end()
}

// pick is one of the people that are as wanted, -1 if there is none.
func (c *campaign) pick(want func(*person) bool) int {
	for _, i := range c.r.Perm(people) {
		if want(&c.people[i]) {
			return i
		}
	}
	return -1
}

// here says of somebody that he is in the group or on his way, as far as is known.
func here(p *person) bool {
	if p.now == nil || p.stopped || p.leaving {
		return false
	}
	_, over, _ := p.now.snapshot()
	return !over
}

// fault does one thing to the group.
func (c *campaign) fault() {
	kind := c.r.IntN(7)
	if (kind <= 2 || kind == 6) && c.spare <= 0 {
		c.settle()
		// Of two, one may be killed, which is certain, but not stopped.
		if n := c.members(); n == 1 || n == 2 && kind == 2 {
			return
		}
	}
	switch kind {
	case 0:
		if i := c.pick(here); i >= 0 {
			c.kill(i)
		}
	case 1:
		if i := c.coordinator(); i >= 0 {
			c.kill(i)
		}
	case 2:
		if i := c.pick(here); i >= 0 && c.stops {
			c.note("stop p%d", i)
			c.people[i].now.stop()
			c.people[i].stopped = true
			c.spare--
			if c.r.IntN(4) == 0 {
				c.outlast()
			}
		}
	case 3:
		if i := c.pick(func(p *person) bool { return p.stopped }); i >= 0 {
			if c.r.IntN(2) == 0 {
				c.outlast()
			}
			c.cont(i)
		}
	case 4, 5:
		// Somebody new, or who was here before.
		if i := c.pick(func(p *person) bool { return !here(p) && !p.stopped && !p.leaving }); i >= 0 {
			c.join(i)
		}
	case 6:
		if i := c.pick(here); i >= 0 && c.members() > 2 {
			c.note("leave p%d", i)
			c.people[i].now.leave()
			c.people[i].leaving = true
			c.spare-- // the silent weigh more in the view without it
		}
	}
}

func (c *campaign) join(i int) {
	c.note("join p%d", i)
	p := &c.people[i]
	if p.before != nil && !eventually(settleLimit, func() bool { _, over, _ := p.before.snapshot(); return over }) {
		c.fatal("p%d was killed, and hasn't ended", i) // it has the address
	}
	l := c.start(c.t, p.cfg)
	*p = person{cfg: p.cfg, now: l, before: l}
	c.lives = append(c.lives, l)
}

func (c *campaign) kill(i int) {
	c.note("kill p%d", i)
	c.people[i].now.kill()
	c.people[i].now = nil
	c.spare--
}

func (c *campaign) cont(i int) {
	c.note("cont p%d", i)
	c.people[i].now.cont()
	c.people[i].stopped = false
}

// outlast lets those who are stopped be taken for dead.
func (c *campaign) outlast() {
	c.note("wait")
	time.Sleep(2*faultSilence + 10*faultPeriod)
}

// members is how many are here for sure: not counting those who may not have
// got in yet.
func (c *campaign) members() (n int) {
	for i := range c.people {
		if p := &c.people[i]; here(p) {
			if h, _, _ := p.now.snapshot(); len(h.views) > 0 {
				n++
			}
		}
	}
	return n
}

// coordinator is the most senior member by the newest view of anybody, -1 if it
// isn't here.
func (c *campaign) coordinator() int {
	var newest group.View
	for i := range c.people {
		if p := &c.people[i]; here(p) {
			if h, _, _ := p.now.snapshot(); len(h.views) > 0 && h.views[len(h.views)-1].Number > newest.Number {
				newest = h.views[len(h.views)-1]
			}
		}
	}
	return c.pick(func(p *person) bool {
		return here(p) && len(newest.Members) > 0 && p.cfg.Name == newest.Members[0].Name
	})
}

// settle lets everybody go on, and waits until those who are left have the same view,
// of just them.
func (c *campaign) settle() {
	c.t.Helper()
	if c.r.IntN(2) == 0 && c.pick(func(p *person) bool { return p.stopped }) >= 0 {
		c.outlast()
	}
	for i := range c.people {
		if c.people[i].stopped {
			c.cont(i)
		}
	}
	why := ""
	if !eventually(settleLimit, func() bool {
		why = c.differs()
		return why == ""
	}) {
		c.fatal("no agreement: %s", why)
	}
	c.note("settled with %d", c.members())
	c.spare = (c.members() - 1) / 2
}

// differs says why there isn't one view of those who are here.
func (c *campaign) differs() string {
	var views []group.View
	for i := range c.people {
		p := &c.people[i]
		if p.now == nil {
			continue
		}
		h, over, err := p.now.snapshot()
		switch {
		case err != nil:
			c.fatal("%s: %v", p.cfg.Name, err)
		case over:
			p.now, p.leaving = nil, false
		case p.leaving:
			return p.cfg.Name + " is still leaving"
		case len(h.views) == 0:
			return p.cfg.Name + " has no view"
		default:
			views = append(views, h.views[len(h.views)-1])
		}
	}
	if len(views) == 0 {
		c.fatal("nobody is left")
	}
	for _, v := range views {
		if v.Number != views[0].Number || len(v.Members) != len(views) {
			return fmt.Sprintf("%d go on; one has view %d of %v, another one %d of %v", len(views), views[0].Number, views[0].Members, v.Number, v.Members)
		}
	}
	return ""
}

// end has everybody leave, and checks what all have ever told.
func (c *campaign) end() {
	for i := range c.people {
		if p := &c.people[i]; here(p) {
			p.now.leave()
			p.leaving = true
		}
	}
	var all []history
	for _, l := range c.lives {
		over := false
		var h history
		var err error
		if !eventually(settleLimit, func() bool { h, over, err = l.snapshot(); return over }) {
			c.fatal("%v hasn't ended: %d views", h.self, len(h.views))
		}
		if err != nil {
			c.fatal("%v: %v", h.self, err)
		}
		c.sum.add(l)
		if len(h.views) > 0 {
			all = append(all, h)
		}
	}
	if err := check(all); err != nil {
		c.fatal("%v", err)
	}
}
