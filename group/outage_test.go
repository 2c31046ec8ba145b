package group_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"banyan/group"
)

// outage is a group whose processes keep what they must know on disk.
type outage struct {
	t       *testing.T
	cfgs    []group.Config
	members []testMember
	token   uint64
}

// newOutage starts a group of n. All have the same seeds, which are all of them.
func newOutage(t *testing.T, n int) *outage {
	t.Parallel()
	o := &outage{t: t, members: make([]testMember, n)}
	seeds := ownAddresses(n)
	for i := range n {
		o.cfgs = append(o.cfgs, group.Config{
			Group: "shards", Name: fmt.Sprint("p", i), Listen: seeds[i], Secret: secret, Dir: filepath.Join(t.TempDir(), fmt.Sprint("p", i)),
			HeartbeatPeriod: faultPeriod, HeartbeatTimeout: faultSilence,
		})
	}
	o.start(0) // it founds
	awaitSize(t, o.members[:1], 1)
	for i := range o.cfgs {
		o.cfgs[i].Seeds = seeds
	}
	for i := 1; i < n; i++ {
		o.start(i)
		awaitSize(t, o.members[:i+1], i+1)
	}
	o.rise(n)
	return o
}

func (o *outage) start(list ...int) {
	for _, i := range list {
		o.members[i] = startProcess(o.t, o.cfgs[i])
	}
}

func (o *outage) kill(list ...int) {
	o.t.Helper()
	for _, i := range list {
		o.members[i].kill()
	}
	for _, i := range list {
		if !eventually(settleLimit, func() bool { _, over, _ := o.members[i].snapshot(); return over }) {
			o.t.Fatalf("p%d doesn't end", i)
		}
	}
}

// rise waits until all have one view of n members, whose token is higher than all before.
func (o *outage) rise(n int) {
	o.t.Helper()
	awaitSize(o.t, o.members, n)
	var foundings []group.Founding
	for _, m := range o.members {
		h, _, err := m.snapshot()
		if err != nil {
			o.t.Fatal(err)
		}
		if first := h.views[0]; first.Token <= o.token {
			o.t.Errorf("token %#x after %#x", first.Token, o.token)
		}
		foundings = append(foundings, h.views[len(h.views)-1].Founding)
	}
	for i, f := range foundings {
		if f != foundings[0] {
			o.t.Errorf("p%d is of another founding", i)
		}
		h, _, _ := o.members[i].snapshot()
		o.token = max(o.token, h.views[len(h.views)-1].Token)
	}
}

// All processes are killed and started again, in another order: the group comes back by itself,
// once, with higher tokens. So it does a second time.
func TestAllKilled(t *testing.T) {
	o := newOutage(t, 5)
	o.kill(0, 1, 2, 3, 4)
	o.start(3, 1, 4, 2, 0)
	o.rise(5)
	o.kill(4, 3, 2, 1, 0)
	o.start(0, 1, 2, 3, 4)
	o.rise(5)
}

// As long as one of the last view hasn't restarted, the others don't found: it may be a member.
func TestOneStaysAway(t *testing.T) {
	o := newOutage(t, 3)
	o.kill(0, 1, 2)
	o.start(0, 1)
	time.Sleep(3 * faultSilence)
	for _, m := range o.members[:2] {
		if h, _, _ := m.snapshot(); len(h.views) > 0 {
			t.Fatalf("it founds without p2: %v", h.views)
		}
	}
	o.start(2)
	o.rise(3)
}

// The processes die one by one. The last one knows that it was alone, and goes on alone.
func TestOneByOne(t *testing.T) {
	o := newOutage(t, 3)
	o.kill(0)
	awaitSize(t, o.members[1:], 2)
	o.kill(1)
	awaitSize(t, o.members[2:], 1)
	o.kill(2)
	o.start(0, 1)
	time.Sleep(2 * faultSilence)
	for _, m := range o.members[:2] {
		if h, _, _ := m.snapshot(); len(h.views) > 0 {
			t.Fatalf("it founds, though it isn't the last: %v", h.views)
		}
	}
	o.start(2)
	o.rise(3)
}

// Three of five are stopped, the other two end as a minority, and the three are killed. When all
// five are started again the group comes back.
func TestMajorityStopped(t *testing.T) {
	o := newOutage(t, 5)
	for i := range 3 {
		o.members[i].stop()
	}
	awaitEnd(t, o.members[3], group.ErrMinority)
	awaitEnd(t, o.members[4], group.ErrMinority)
	o.kill(0, 1, 2)
	o.start(0, 1, 2, 3, 4)
	o.rise(5)
}

// A majority is lost with its disks. The others wait for it, until an operator says that it is
// gone. Then they join the one that recovers, and so do new processes under the old names.
func TestMajorityLost(t *testing.T) {
	o := newOutage(t, 5)
	o.kill(0, 1, 2, 3, 4)
	o.start(4)
	cfg := o.cfgs[3]
	ctx, cancel := context.WithTimeout(t.Context(), 3*faultSilence)
	defer cancel()
	if _, err := group.Join(ctx, cfg); err == nil || !strings.Contains(err.Error(), "p0 hasn't been heard of") {
		t.Fatalf("it doesn't say what is missing: %v", err)
	}
	m, err := group.Recover(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	if v := <-m.Views(); v.Token <= o.token || len(v.Members) != 1 {
		t.Errorf("recovered as %+v, after token %#x", v, o.token)
	}
	awaitSize(t, o.members[4:], 2)
	for i := range 3 {
		o.cfgs[i].Dir = filepath.Join(t.TempDir(), fmt.Sprint("new", i))
	}
	o.start(0, 1, 2)
	awaitSize(t, append(o.members[:3:3], o.members[4]), 5)
}

// While a member lives there is nothing to recover.
func TestRecoverWhileAlive(t *testing.T) {
	o := newOutage(t, 3)
	cfg := o.cfgs[2]
	o.kill(2)
	if _, err := group.Recover(t.Context(), cfg); !errors.Is(err, group.ErrExists) {
		t.Fatal(err)
	}
	o.start(2)
	awaitSize(t, o.members, 3)
}

// The founder was started without seeds. Started again the same way it doesn't found a second
// group, as it remembers the first.
func TestFounderRestarted(t *testing.T) {
	o := newOutage(t, 2)
	o.kill(0)
	o.cfgs[0].Seeds = nil
	o.start(0)
	awaitSize(t, o.members, 2)
	a, _, _ := o.members[0].snapshot()
	b, _, _ := o.members[1].snapshot()
	if a.views[0].Founding != b.views[0].Founding {
		t.Error("two foundings")
	}
}

// Two members can't use one directory, and a damaged one isn't taken for a new one.
func TestDirInUse(t *testing.T) {
	cfg := config("anna")
	cfg.Dir = t.TempDir()
	join(t, cfg)
	other := config("bert")
	other.Dir = cfg.Dir
	if _, err := group.Join(t.Context(), other); !errors.Is(err, group.ErrConfig) || !strings.Contains(err.Error(), "uses it") {
		t.Error(err)
	}
}

// expired is a context that ends soon, but after several time-outs of members.
func expired(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), 3*faultSilence)
	t.Cleanup(cancel)
	return ctx
}
