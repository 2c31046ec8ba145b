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
	// The tests wait most of the time.
	flag.Set("test.parallel", "8")
	flag.Parse() // the command line's goes before it
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("banyan/group_test.lastingThread"))
}

// In random sequences, processes are killed, stopped, restarted under their names, join and
// leave; some are coordinators. In the end all that are left have the same view, and all views
// that any member has ever had fit together. `-sequences 1000` runs more.
func TestFaultSequences(t *testing.T) {
	t.Parallel()
	n := *sequences
	if testing.Short() {
		n = min(n, 2)
	}
	var sum tally
	t.Cleanup(func() {
		t.Logf("%d sequences: %d members had %d views; of them %d were killed, %d left, %d were excluded, %d ended in a minority",
			n, sum.members, sum.views, sum.killed, sum.left, sum.excluded, sum.minority)
	})
	for i := range uint64(n) {
		t.Run(fmt.Sprint("seed=", *seed+i), func(t *testing.T) {
			t.Parallel()
			(&sequence{t: t, sum: &sum, start: startProcess, stops: true}).run(*seed + i)
		})
	}
}

// The same sequences run with members in this process, which can't be stopped.
func TestFaultSequencesInOne(t *testing.T) {
	t.Parallel()
	n := 12
	if testing.Short() {
		n = 3
	}
	for i := range uint64(n) {
		t.Run(fmt.Sprint("seed=", 1000+i), func(t *testing.T) {
			t.Parallel()
			(&sequence{t: t, sum: new(tally), start: startLocal}).run(1000 + i)
		})
	}
}

const (
	nameCount = 9

	// faultPeriod and faultSilence are η and δ.
	faultPeriod  = 15 * time.Millisecond
	faultSilence = 600 * time.Millisecond
	settleLimit  = 30 * time.Second
)

// name is a member's name, and the member that has it.
type name struct {
	cfg     group.Config
	now     testMember // nil: none
	before  testMember // the last one that had it
	stopped bool
	leaving bool
}

// tally counts how all members ended.
type tally struct {
	mu                                               sync.Mutex
	members, views, killed, left, excluded, minority int
}

func (s *tally) add(l testMember) {
	h, _, _ := l.snapshot()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.members++
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

// sequence is one sequence of faults, and the group in which they happen.
type sequence struct {
	t     *testing.T
	sum   *tally
	start func(*testing.T, group.Config) testMember
	stops bool // members can be stopped

	r       *rand.Rand
	names   [nameCount]name
	started []testMember
	log     []string
	// spare is how many more members may go without the loss of a quorum: more than half of the
	// members in the last view on which all agreed must stay.
	spare int
}

func (c *sequence) note(format string, args ...any) {
	c.log = append(c.log, fmt.Sprintf(format, args...))
}

func (c *sequence) fatal(format string, args ...any) {
	c.t.Helper()
	c.t.Fatalf("%s\nafter: %s", fmt.Sprintf(format, args...), strings.Join(c.log, ", "))
}

func (c *sequence) run(seed uint64) {
	c.r = rand.New(rand.NewPCG(seed, 5))
	// The sequence has a host of its own: 127.x.y.z.
	net := fmt.Sprintf("127.%d.%d", 1+seed%250, 1+(seed/250+uint64(os.Getpid()))%250)
	var addresses []string
	for i := range c.names {
		addresses = append(addresses, fmt.Sprintf("%s.%d:7946", net, i+1))
	}
	for i := range c.names {
		c.names[i].cfg = group.Config{
			Name: fmt.Sprint("p", i), Listen: addresses[i], Seeds: addresses, Secret: secret,
			HeartbeatPeriod: faultPeriod, HeartbeatTimeout: faultSilence, Arity: 2 << (seed % 3),
		}
	}
	c.names[0].cfg.Seeds = nil
	c.join(0)
	c.names[0].cfg.Seeds = addresses
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

// pick is the index of a random name that want accepts, -1 if there is none.
func (c *sequence) pick(want func(*name) bool) int {
	for _, i := range c.r.Perm(nameCount) {
		if want(&c.names[i]) {
			return i
		}
	}
	return -1
}

// here says whether a name's member is in the group or joining, as far as is known.
func here(p *name) bool {
	if p.now == nil || p.stopped || p.leaving {
		return false
	}
	_, over, _ := p.now.snapshot()
	return !over
}

// fault makes one fault, join or leave happen.
func (c *sequence) fault() {
	kind := c.r.IntN(7)
	if (kind <= 2 || kind == 6) && c.spare <= 0 {
		c.settle()
		// In a group of two, one may be killed, because that death is certain, but not stopped.
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
			c.names[i].now.stop()
			c.names[i].stopped = true
			c.spare--
			if c.r.IntN(4) == 0 {
				c.outlast()
			}
		}
	case 3:
		if i := c.pick(func(p *name) bool { return p.stopped }); i >= 0 {
			if c.r.IntN(2) == 0 {
				c.outlast()
			}
			c.cont(i)
		}
	case 4, 5:
		// The member has a new name, or one that was here before.
		if i := c.pick(func(p *name) bool { return !here(p) && !p.stopped && !p.leaving }); i >= 0 {
			c.join(i)
		}
	case 6:
		if i := c.pick(here); i >= 0 && c.members() > 2 {
			c.note("leave p%d", i)
			c.names[i].now.leave()
			c.names[i].leaving = true
			c.spare-- // silent members count for more in the view without it
		}
	}
}

func (c *sequence) join(i int) {
	c.note("join p%d", i)
	p := &c.names[i]
	if p.before != nil && !eventually(settleLimit, func() bool { _, over, _ := p.before.snapshot(); return over }) {
		c.fatal("p%d was killed, and hasn't ended", i) // it still has the address
	}
	l := c.start(c.t, p.cfg)
	*p = name{cfg: p.cfg, now: l, before: l}
	c.started = append(c.started, l)
}

func (c *sequence) kill(i int) {
	c.note("kill p%d", i)
	c.names[i].now.kill()
	c.names[i].now = nil
	c.spare--
}

func (c *sequence) cont(i int) {
	c.note("cont p%d", i)
	c.names[i].now.cont()
	c.names[i].stopped = false
}

// outlast waits until stopped members are taken for dead.
func (c *sequence) outlast() {
	c.note("wait")
	time.Sleep(2*faultSilence + 10*faultPeriod)
}

// members is how many members are certainly here: it doesn't count those that may still be
// joining.
func (c *sequence) members() (n int) {
	for i := range c.names {
		if p := &c.names[i]; here(p) {
			if h, _, _ := p.now.snapshot(); len(h.views) > 0 {
				n++
			}
		}
	}
	return n
}

// coordinator is the most senior member in the newest view that any member has, -1 if it isn't
// here.
func (c *sequence) coordinator() int {
	var newest group.View
	for i := range c.names {
		if p := &c.names[i]; here(p) {
			if h, _, _ := p.now.snapshot(); len(h.views) > 0 && h.views[len(h.views)-1].Number > newest.Number {
				newest = h.views[len(h.views)-1]
			}
		}
	}
	return c.pick(func(p *name) bool {
		return here(p) && len(newest.Members) > 0 && p.cfg.Name == newest.Members[0].Name
	})
}

// settle lets all members go on, and waits until those that are left have one view, which has no
// others.
func (c *sequence) settle() {
	c.t.Helper()
	if c.r.IntN(2) == 0 && c.pick(func(p *name) bool { return p.stopped }) >= 0 {
		c.outlast()
	}
	for i := range c.names {
		if c.names[i].stopped {
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

// differs says why the members that are here don't have one view of just themselves.
func (c *sequence) differs() string {
	var views []group.View
	for i := range c.names {
		p := &c.names[i]
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
		c.fatal("no member is left")
	}
	for _, v := range views {
		if v.Number != views[0].Number || len(v.Members) != len(views) {
			return fmt.Sprintf("%d go on; one has view %d of %v, another one %d of %v", len(views), views[0].Number, views[0].Members, v.Number, v.Members)
		}
	}
	return ""
}

// end makes all members leave, and checks all views that members have ever had.
func (c *sequence) end() {
	for i := range c.names {
		if p := &c.names[i]; here(p) {
			p.now.leave()
			p.leaving = true
		}
	}
	var all []history
	for _, l := range c.started {
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
