package agreement

import (
	"errors"
	"testing"

	"banyan/internal/testing/explore"
	"banyan/internal/topology"
)

// Known bugs, re-created on top of the machine: exploration must find each.

// incurious decides as a new root when its own children have reported: it doesn't wait for members
// whose ancestors are all dead.
type incurious struct{ *Machine }

func (b incurious) copy() member { return incurious{b.clone()} }

func (b incurious) Dead(member int, out *Actions) {
	root := b.root
	var own Actions
	b.Machine.Dead(member, &own)
	if b.root != root && int(b.root) == b.cfg.Self {
		for len(b.children) > 0 {
			last := b.children[len(b.children)-1]
			if b.cfg.Tree.Parent(int(last)) == b.cfg.Self {
				break
			}
			b.children = b.children[:len(b.children)-1]
			b.index[last] = -1
		}
		for _, i := range b.window {
			i.fit(len(b.children))
		}
		b.proceed(&own)
	}
	*out = append(*out, own...)
}

// hasty forgets a decision as soon as it has it.
type hasty struct{ *Machine }

func (b hasty) copy() member { return hasty{b.clone()} }

func (b hasty) Receive(from int, m Message, out *Actions) {
	b.Machine.Receive(from, m, out)
	b.settle(b.decided)
}

func (b hasty) Contribute(c Contribution, out *Actions) uint64 {
	n := b.Machine.Contribute(c, out)
	b.settle(b.decided)
	return n
}

// free forgets everything when the communicator is freed.
type free struct{ *Machine }

func (b free) copy() member { return free{b.clone()} }

func (b free) Close(_ bool, out *Actions) {
	b.isClosed = true
	b.leave(out)
}

// gullible listens to members that it knows to be dead. The promise alone is enough then.
type gullible struct{ *Machine }

func (b gullible) copy() member { return gullible{b.clone()} }

func (b gullible) Receive(from int, m Message, out *Actions) {
	dead := b.dead
	b.dead = dead.Without(from)
	b.Machine.Receive(from, m, out)
	b.dead = dead
}

// faithless listens to dead members, and breaks its promise to accept nothing of lower roots.
type faithless struct{ *Machine }

func (b faithless) copy() member { return faithless{b.clone()} }

func (b faithless) Receive(from int, m Message, out *Actions) {
	if m.Kind == KindDecision {
		m.Root = max(m.Root, b.root)
	}
	gullible(b).Receive(from, m, out)
}

// forgetful decides anew as a new root, whatever was decided.
type forgetful struct{ *Machine }

func (b forgetful) copy() member { return forgetful{b.clone()} }

func (b forgetful) Receive(from int, m Message, out *Actions) {
	if m.Kind == KindAccepted && int(b.root) == b.cfg.Self {
		m.Kind = KindContribution
	}
	b.Machine.Receive(from, m, out)
}

// impatient counts deaths that it hears of from others: it doesn't wait for missing children.
type impatient struct{ *Machine }

func (b impatient) copy() member { return impatient{b.clone()} }

func (b impatient) Receive(from int, m Message, out *Actions) {
	b.Machine.Receive(from, m, out)
	if b.entered > b.decided && b.parent < 0 {
		i := b.at(b.decided + 1)
		if i.here > 0 && i.here < len(b.children) && m.Kind == KindContribution {
			i.here = len(b.children)
			b.proceed(out)
		}
	}
}

// double counts the report of a dead child and the reports of the dead child's children.
type double struct{ *Machine }

func (b double) copy() member { return double{b.clone()} }

func (b double) Dead(member int, out *Actions) {
	var lost []Value
	if c := b.index[member]; c >= 0 && !b.dead.Has(member) {
		for _, i := range b.window {
			v := Value{}
			if r := &i.reports[c]; r.here && i.entered {
				v.put(&r.value)
			}
			lost = append(lost, v)
		}
	}
	for j, v := range lost {
		if len(v.Payload) > 0 {
			i := b.window[j]
			i.own.Payload = b.cfg.Combine(0, i.own.Payload, v.Payload)
		}
	}
	b.Machine.Dead(member, out)
}

// quiet doesn't hand a prompt on when it has left.
type quiet struct{ *Machine }

func (b quiet) copy() member { return quiet{b.clone()} }

func (b quiet) Receive(from int, m Message, out *Actions) {
	var own Actions
	b.Machine.Receive(from, m, &own)
	for _, a := range own {
		if a.Kind != Send || a.Message.Kind != KindPrompt {
			*out = append(*out, a)
		}
	}
}

// absentminded forgets before it leaves what others have entered.
type absentminded struct{ *Machine }

func (b absentminded) copy() member { return absentminded{b.clone()} }

func (b absentminded) Leave(out *Actions) {
	b.wanted = 0
	b.Machine.Leave(out)
}

// settled doesn't prompt its new children after a death.
type settled struct{ *Machine }

func (b settled) copy() member { return settled{b.clone()} }

func (b settled) Dead(member int, out *Actions) {
	left := b.left
	b.left = false
	b.Machine.Dead(member, out)
	b.left = left
}

// buried takes a member that has left for dead: it forgets what that one has decided.
type buried struct{ *Machine }

func (b buried) copy() member { return buried{b.clone()} }

func (b buried) Receive(from int, m Message, out *Actions) {
	b.Machine.Receive(from, m, out)
	if !m.Value.Left.Empty() {
		for _, l := range m.Value.Left.AppendMembers(nil) {
			b.Machine.Dead(l, out)
		}
	}
}

// TestPromise: the promise of a report holds although messages of dead members come late.
func TestPromise(t *testing.T) {
	for _, tree := range []topology.Tree{star(3), chain(3)} {
		r := rules{members: 3, tree: tree, rounds: 1, deaths: 2, unfenced: true, bug: func(m *Machine) member { return gullible{m} }}
		if _, err := explore.All(r.world(), stateLimit); err != nil {
			t.Error(err)
		}
	}
}

func TestCanaries(t *testing.T) {
	three := rules{members: 3, tree: star(3), rounds: 1, deaths: 2}
	chained := rules{members: 3, tree: chain(3), rounds: 1, deaths: 2}
	three.blind = true
	closing := three
	closing.close = true
	unfenced := three
	unfenced.unfenced = true
	leaving := chained
	leaving.leavers, leaving.prompts = Set{0b011}, true
	below := leaving
	below.leavers = Set{0b110}
	paid := chained
	paid.payloads = true
	for name, c := range map[string]struct {
		rules rules
		bug   func(*Machine) member
		want  []error
	}{
		"asks only its children":           {three, func(m *Machine) member { return incurious{m} }, []error{errInvalid}},
		"drops a decision early":           {three, func(m *Machine) member { return hasty{m} }, []error{errInvalid, errDiffers, errStuck}},
		"free right after, the root dies":  {closing, func(m *Machine) member { return free{m} }, []error{errLost, errStuck}},
		"breaks its promise":               {unfenced, func(m *Machine) member { return faithless{m} }, []error{errDiffers}},
		"decides anew":                     {three, func(m *Machine) member { return forgetful{m} }, []error{errDiffers, errInvalid}},
		"doesn't wait for all":             {three, func(m *Machine) member { return impatient{m} }, []error{errInvalid}},
		"counts a dead child's report too": {paid, func(m *Machine) member { return double{m} }, []error{errInvalid}},
		"one that has left keeps a prompt": {below, func(m *Machine) member { return quiet{m} }, []error{errStuck}},
		"leaves without what was entered":  {leaving, func(m *Machine) member { return absentminded{m} }, []error{errStuck}},
		"doesn't prompt after a death":     {leaving, func(m *Machine) member { return settled{m} }, []error{errStuck}},
		"holds who has left for dead":      {leaving, func(m *Machine) member { return buried{m} }, []error{errStuck, errInvalid, errDiffers}},
	} {
		t.Run(name, func(t *testing.T) {
			c.rules.bug = c.bug
			_, err := explore.All(c.rules.world(), stateLimit)
			for _, want := range c.want {
				if errors.Is(err, want) {
					t.Log(err)
					return
				}
			}
			t.Fatalf("found %v, want %v", err, c.want)
		})
	}
}
