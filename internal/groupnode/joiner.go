package groupnode

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"time"

	"banyan/internal/runtime/handshake"
)

// joiner looks for the group, until this member is in a view. It asks all addresses of all seeds,
// in parallel and again and again, and the members and candidates that they name. What they
// answer leads it to the most senior member, or makes this process found the group (see
// candidacy). It also asks again some time after a welcome: the coordinator may have died.
type joiner struct {
	*Member
	seeds     []string // host:port, with the addresses of the last view's members
	names     map[string]*name
	targets   map[string]*target
	senior    string    // the member to ask, if one was named
	redirects int       // since the last pause
	quiet     time.Time // nobody is asked before
	results   chan result
	began     time.Time
}

// name is a seed, whose host may stand for several addresses.
type name struct {
	addresses []string
	err       error
	busy      bool
	next      time.Time // when to look it up again
}

// target is an address to ask.
type target struct {
	busy      bool
	next      time.Time // when to ask again
	failures  int       // in a row
	strangers int       // in a row: how often it wasn't of this group
	last      string    // what it answered last, in words
}

// result is what a lookup or a question has brought.
type result struct {
	seed      string // of a lookup
	addresses []string

	address string // of a question
	answer  *answer
	err     error
}

const (
	// lookupPause is how long the addresses of a name hold.
	lookupPause = time.Second
	// maxRedirects is how often a joiner follows a redirection before it pauses.
	maxRedirects = 4
)

func newJoiner(m *Member) *joiner {
	j := &joiner{Member: m, names: map[string]*name{}, targets: map[string]*target{}, results: make(chan result, 16), began: time.Now()}
	j.seeds = slices.Clone(m.cfg.Seeds)
	for _, x := range m.memory.members() {
		if x.Name != m.card.Name && !slices.Contains(j.seeds, x.Address) {
			j.seeds = append(j.seeds, x.Address)
		}
	}
	return j
}

// run returns nil when this member is in a view.
func (j *joiner) run(ctx context.Context) error {
	outer := ctx
	ctx, cancel := j.untilAdmitted(ctx)
	defer cancel()
	if j.cfg.Recover {
		if err := j.recover(ctx); err != nil {
			return err
		}
	}
	tick := time.NewTicker(max(j.cfg.Period/4, time.Millisecond))
	defer tick.Stop()
	for {
		asked := j.allAsked()
		j.post(func() { j.candidacy.asked = asked; j.forgetSilent(); j.settle() })
		j.ask(ctx, toJoin)
		select {
		case r := <-j.results:
			if err := j.take(ctx, r); err != nil {
				return err
			}
		case <-tick.C:
		case <-ctx.Done():
			return j.end(outer)
		}
	}
}

// untilAdmitted makes a context that also ends with this member, and with its admission.
func (j *joiner) untilAdmitted(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(j.ctx, cancel)
	go func() {
		select {
		case <-j.admitted:
			cancel()
		case <-ctx.Done():
		}
	}()
	return ctx, func() { stop(); cancel() }
}

// end says how joining has ended.
func (j *joiner) end(outer context.Context) error {
	select {
	case <-j.admitted:
		return nil
	default:
	}
	select {
	case <-j.over:
		return j.Err()
	case <-outer.Done():
		return fmt.Errorf("join: %w after %v: %s", outer.Err(), time.Since(j.began).Round(time.Millisecond), j.story())
	case <-j.ctx.Done():
		<-j.over
		return j.Err()
	}
}

// ask looks up the seeds and asks the addresses that are due, each in the background.
func (j *joiner) ask(ctx context.Context, why purpose) {
	now := time.Now()
	for _, seed := range j.seeds {
		n := j.names[seed]
		if n == nil {
			n = &name{}
			j.names[seed] = n
		}
		if !n.busy && !now.Before(n.next) {
			n.busy = true
			go j.look(ctx, seed)
		}
		for _, a := range n.addresses {
			j.aim(a)
		}
	}
	if now.Before(j.quiet) {
		return
	}
	for address, t := range j.targets {
		if !t.busy && !now.Before(t.next) && (j.senior == "" || j.senior == address) && address != j.card.Address {
			t.busy = true
			go j.question(ctx, address, why)
		}
	}
}

// allAsked says whether all seeds have answered, or failed to.
func (j *joiner) allAsked() bool {
	for _, seed := range j.seeds {
		if n := j.names[seed]; n == nil || n.err == nil && len(n.addresses) == 0 {
			return false
		}
	}
	for address, t := range j.targets {
		if t.last == "" && address != j.card.Address {
			return false
		}
	}
	return true
}

// aim makes an address one to ask.
func (j *joiner) aim(address string) *target {
	t := j.targets[address]
	if t == nil {
		t = &target{}
		j.targets[address] = t
	}
	return t
}

func (j *joiner) give(ctx context.Context, r result) {
	select {
	case j.results <- r:
	case <-ctx.Done():
	}
}

// look finds the addresses of a seed.
func (j *joiner) look(ctx context.Context, seed string) {
	host, port, _ := net.SplitHostPort(seed) // checked
	r := result{seed: seed}
	if net.ParseIP(host) != nil {
		r.addresses = []string{seed}
	} else {
		limited, cancel := context.WithTimeout(ctx, handshakeLimit)
		defer cancel()
		var hosts []string
		if hosts, r.err = j.cfg.lookup(limited, host); r.err == nil && len(hosts) == 0 {
			r.err = errors.New("the name has no address")
		}
		for _, h := range hosts {
			r.addresses = append(r.addresses, net.JoinHostPort(h, port))
		}
	}
	j.give(ctx, r)
}

// question asks one address.
func (j *joiner) question(ctx context.Context, address string, why purpose) {
	h := make(chan *hello, 1)
	j.post(func() {
		x := j.hello(why, Nonce{})
		x.metadata = j.cfg.Metadata
		if x.state = j.state(); x.state != nil && (!x.state.Exists || j.mustWait()) {
			x.purpose = toMeet // what it is let in by, it must not support another against
		}
		h <- x
	})
	select {
	case x := <-h:
		conn, _, a, err := j.dial(ctx, address, x)
		if conn != nil {
			conn.Close()
		}
		j.give(ctx, result{address: address, answer: a, err: err})
	case <-ctx.Done():
	}
}

// take takes a result. Its error ends joining.
func (j *joiner) take(ctx context.Context, r result) error {
	if r.address == "" {
		n := j.names[r.seed]
		n.busy, n.err, n.next = false, r.err, time.Now().Add(lookupPause)
		if r.err == nil {
			n.addresses = r.addresses
		}
		return nil
	}
	t := j.aim(r.address)
	t.busy, t.next = false, time.Now().Add(j.cfg.Period/2)
	if r.err != nil {
		if ctx.Err() == nil && !overdue(ctx) {
			j.failed(t, r)
		}
		return j.strangersOnly(fmt.Errorf("%w: %s", ErrSecret, r.err))
	}
	t.failures = 0
	if r.answer.verdict == otherGroup {
		t.strangers++
		t.next = time.Now().Add(j.cfg.Period * 4)
		j.note(t, r.address, r.answer.text)
		return j.strangersOnly(fmt.Errorf("%w by %s: %s", ErrRefused, r.address, r.answer.text))
	}
	t.strangers = 0
	return j.follow(t, r.address, r.answer)
}

// overdue tells whether a context's deadline has passed. A question may find that out before the
// context does: it was cut off then, and its error says nothing of the address.
func overdue(ctx context.Context) bool {
	deadline, has := ctx.Deadline()
	return has && !time.Now().Before(deadline)
}

// failed notes a question without an answer. The next one comes later and later.
func (j *joiner) failed(t *target, r result) {
	t.failures++
	t.next = time.Now().Add(j.cfg.Period / 2 << min(t.failures-1, 3))
	if t.strangers++; !errors.Is(r.err, handshake.ErrStranger) {
		t.strangers = 0
	}
	if j.senior == r.address {
		j.senior = ""
	}
	j.note(t, r.address, plainly(r.err))
}

// plainly is an error without the address, which is told beside.
func plainly(err error) string {
	var op *net.OpError
	if errors.As(err, &op) {
		err = op.Err
	}
	return err.Error()
}

// strangersOnly is an error if all that are asked answer, twice each, that they aren't of this
// group: they have another secret, or another group's name. If only some do, these are at
// addresses that others had before.
func (j *joiner) strangersOnly(err error) error {
	all := false
	for address, t := range j.targets {
		if address == j.card.Address {
			continue
		}
		if all = t.strangers >= 2; !all {
			break
		}
	}
	if all {
		return err
	}
	return nil
}

// note notes what an address says, and logs it if that is new.
func (j *joiner) note(t *target, address, words string) {
	if t.last != words {
		t.last = words
		j.log.Info("join: a seed answers", "seed", address, "answer", words)
	}
}

// follow does what an answer says.
func (j *joiner) follow(t *target, address string, a *answer) error {
	if a.verdict != redirect && j.senior == address {
		j.senior = ""
	}
	switch a.verdict {
	case welcome:
		j.note(t, address, "welcome")
		j.quiet = time.Now().Add(j.cfg.Timeout)
	case redirect:
		j.note(t, address, "ask "+a.text)
		if a.text == j.card.Address {
			// It means this process as it was before, whose end it hasn't noticed yet.
			j.senior = ""
			break
		}
		j.senior = a.text
		if s := j.aim(a.text); j.redirects < maxRedirects {
			s.next = time.Time{}
			j.redirects++
		} else {
			j.redirects = 0
		}
	case later:
		j.note(t, address, "not now "+a.text)
	case looksToo:
		j.note(t, address, "looks for the group, too")
		for _, p := range a.peers {
			j.aim(p)
		}
		j.post(func() { j.heardCandidate(a.state, address); j.settle() })
		return nil
	case itself:
		t.next = time.Now().Add(time.Hour)
		j.note(t, address, "this process itself")
		return nil
	case refused:
		return fmt.Errorf("%w by %s: %s", ErrRefused, address, a.text)
	case nameInUse:
		return fmt.Errorf("%w: %s is at %s", ErrNameInUse, j.card.Name, a.text)
	case isMember:
		if !strings.HasPrefix(t.last, "is a member") {
			t.next = time.Now() // to be let in
		}
		j.note(t, address, fmt.Sprintf("is a member, in view %d", a.number))
	}
	if a.founding != (Founding{}) {
		j.post(func() { j.heardMember(a.node) })
	}
	return nil
}

// story is what was tried, and what came of it.
func (j *joiner) story() string {
	var list []string
	for _, seed := range j.seeds {
		switch n := j.names[seed]; {
		case n == nil || n.err == nil && len(n.addresses) == 0:
			list = append(list, seed+": not looked up yet")
		case n.err != nil:
			list = append(list, fmt.Sprintf("%s: %v", seed, n.err))
		}
	}
	for address, t := range j.targets {
		if t.last == "" {
			t.last = "no answer yet"
		}
		list = append(list, address+": "+t.last)
	}
	slices.Sort(list)
	if missing := j.missing(); len(missing) > 0 {
		list = append(list, "the group isn't founded: "+strings.Join(missing, "; "))
	}
	if len(list) == 0 {
		return "there was nobody to ask"
	}
	return strings.Join(list, "; ")
}

// missing is what this process lacks to found the group.
func (j *joiner) missing() []string {
	got := make(chan []string, 1)
	j.post(func() {
		if c := j.candidacy.machine; c != nil {
			got <- c.Missing()
			return
		}
		got <- nil
	})
	select {
	case list := <-got:
		return list
	case <-j.ctx.Done():
		return nil
	}
}
