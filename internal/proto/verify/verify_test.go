package verify

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"banyan/internal/proto"
)

// model is one channel of so many messages from rank 0 to rank 1, between replicas of both: the
// machines of the senders, and what the receivers have taken in.
type model struct {
	layout    []int // degrees of the two ranks
	senders   []*Machine
	receivers []*Machine
	total     int
	large     func(seq uint64) bool                // rendezvous
	data      func(replica int, seq uint64) uint32 // what a sender sends: its digest

	sent     []uint64         // by sender
	arrived  []uint64         // by receiver
	links    map[[2]int][]ack // receiver, sender
	dead     [2]set
	cover    []int // the sender that each receiver listens to
	verdicts []Verdicts
}

type ack struct {
	seq    uint64
	single bool
	digest uint32
	joined func(seq uint64) bool // no acknowledgement: a replacement's word that it has joined, and what it lacks
}

func newModel(degrees []int, total int, data func(int, uint64) uint32) *model {
	w := &model{layout: degrees, total: total, data: data, links: map[[2]int][]ack{}, large: func(uint64) bool { return false }}
	degree := func(r proto.Rank) int { return degrees[r] }
	w.cover = make([]int, max(degrees[0], degrees[1]))
	for j := range w.cover {
		if j < degrees[0] {
			w.cover[j] = j
		}
	}
	for k := range degrees[0] {
		covers := func(j int) bool { return w.cover[j] == k }
		w.senders = append(w.senders, New(Config{Rank: 0, Replica: k, Ranks: 2, Degree: degree, Covers: covers}))
	}
	for k := range degrees[1] {
		w.receivers = append(w.receivers, New(Config{Rank: 1, Replica: k, Ranks: 2, Degree: degree}))
	}
	w.sent, w.arrived = make([]uint64, degrees[0]), make([]uint64, degrees[1])
	w.verdicts = make([]Verdicts, degrees[0])
	return w
}

// server is the sender that receiver j listens to.
func (w *model) server(j int) int { return w.cover[j] }

// Steps. Each reports whether it was possible.

func (w *model) send(k int) bool {
	if w.dead[0].has(k) || w.sent[k] == uint64(w.total) {
		return false
	}
	w.sent[k]++
	seq := w.sent[k]
	w.senders[k].Sent(2, 1, seq, w.large(seq), 5, w.data(k, seq), &w.verdicts[k])
	return true
}

// arrive brings receiver j its next message. With flush, it also brings the other processes an
// acknowledgement of all messages so far.
func (w *model) arrive(j int, flush bool) bool {
	k := w.server(j)
	if w.dead[1].has(j) || k >= w.layout[0] || w.arrived[j] >= w.sent[k] {
		return false
	}
	w.arrived[j]++
	seq := w.arrived[j]
	if w.large(seq) {
		w.tell(j, ack{seq: seq, single: true, digest: w.data(k, seq)})
	} else {
		w.receivers[j].Arrived(2, 0, seq, w.data(k, seq))
	}
	if flush {
		w.tell(j, ack{seq: seq, digest: w.receivers[j].Digest(2, 0)})
	}
	return true
}

func (w *model) tell(j int, a ack) {
	for s := range w.layout[0] {
		if s != w.server(j) && !w.dead[0].has(s) {
			w.links[[2]int{j, s}] = append(w.links[[2]int{j, s}], a)
		}
	}
}

func (w *model) hear(j, s int) bool {
	l := w.links[[2]int{j, s}]
	if len(l) == 0 || w.dead[0].has(s) {
		return false
	}
	w.links[[2]int{j, s}] = l[1:]
	if lacks := l[0].joined; lacks != nil {
		w.senders[s].Came(1, j, func(_, seq uint64) bool { return lacks(seq) }, &w.verdicts[s])
		return true
	}
	w.senders[s].Acked(1, j, 2, l[0].seq, l[0].single, l[0].digest, true, &w.verdicts[s])
	return true
}

func (w *model) kill(rank, replica int) {
	w.dead[rank] |= only(replica)
	if rank == 0 {
		for j, k := range w.cover {
			if k == replica {
				w.cover[j] = (first(w.layout[0]) &^ w.dead[0]).lowest()
			}
		}
	}
	for s, m := range w.senders {
		if !w.dead[0].has(s) {
			m.Gone(proto.Rank(rank), replica, &w.verdicts[s])
		}
	}
}

// settle performs all possible steps.
func (w *model) settle() {
	for moved := true; moved; {
		moved = false
		for k := range w.senders {
			moved = w.send(k) || moved
		}
		for j := range w.receivers {
			moved = w.arrive(j, false) || moved
			for s := range w.senders {
				moved = w.hear(j, s) || moved
			}
		}
	}
	for j := range w.receivers { // acknowledgements that are still owed
		if !w.dead[1].has(j) {
			w.tell(j, ack{seq: w.arrived[j], digest: w.receivers[j].Digest(2, 0)})
		}
		for s := range w.senders {
			for w.hear(j, s) {
			}
		}
	}
}

func same(_ int, seq uint64) uint32 { return uint32(seq) * 7919 }

// wrong is same, except for one message of one sender.
func wrong(replica int, seq uint64) func(int, uint64) uint32 {
	return func(k int, n uint64) uint32 {
		if k == replica && n == seq {
			return 1
		}
		return same(k, n)
	}
}

// check says what is wrong with the verdicts at the end of a run in which sender culprit was
// wrong about a message; -1 stands for none.
func (w *model) check(culprit int, seq uint64) error {
	for s, all := range w.verdicts {
		if w.dead[0].has(s) {
			continue
		}
		want := Outvoted
		switch {
		case culprit < 0:
			if len(all) > 0 {
				return fmt.Errorf("sender %d says %+v of what is right", s, all)
			}
			continue
		case w.layout[0] == 2:
			want = Undecided
		case s == culprit:
			want = Outnumbered
		}
		if len(all) != 1 || all[0].Kind != want || all[0].First > seq || all[0].Last < seq {
			return fmt.Errorf("sender %d says %+v, want %v of message %d", s, all, want, seq)
		}
		if want == Outvoted && all[0].Replica != culprit {
			return fmt.Errorf("sender %d blames %d, not %d", s, all[0].Replica, culprit)
		}
	}
	return nil
}

// Every interleaving of a few messages of 2 and 3 replicas, with each message of each sender
// wrong, and with none wrong.
func TestEveryInterleaving(t *testing.T) {
	for _, small := range []struct{ degree, total int }{{2, 2}, {3, 1}} {
		for culprit := -1; culprit < small.degree; culprit++ {
			for seq := uint64(1); seq <= uint64(small.total); seq++ {
				for _, rendezvous := range []bool{false, true} {
					runs := 0
					// A run is a list of choices among the steps that are possible; the next run is
					// the next list.
					for choices := []int{}; choices != nil; runs++ {
						w := newModel([]int{small.degree, small.degree}, small.total, wrong(culprit, seq))
						w.large = func(n uint64) bool { return rendezvous }
						choices = w.follow(choices)
						if err := w.check(culprit, seq); err != nil {
							t.Fatalf("%d replicas, sender %d wrong about %d, rendezvous %v, choices %v: %v", small.degree, culprit, seq, rendezvous, choices, err)
						}
						choices = next(choices)
					}
					if runs < 50 {
						t.Errorf("only %d runs", runs)
					}
				}
			}
		}
	}
}

// follow makes the run of a list of choices; after the list's end it takes the lowest ones. It
// returns the complete list, each choice with the number of alternatives in its upper half.
func (w *model) follow(choices []int) []int {
	made := []int{}
	for {
		var steps []func()
		for k := range w.senders {
			if w.sent[k] < uint64(w.total) {
				steps = append(steps, func() { w.send(k) })
			}
		}
		for j := range w.receivers {
			if w.arrived[j] < w.sent[j] { // other processes see only its acknowledgement
				w.arrive(j, !w.large(1))
			}
		}
		for j := range w.receivers {
			for s := range w.senders {
				if len(w.links[[2]int{j, s}]) > 0 {
					steps = append(steps, func() { w.hear(j, s) })
				}
			}
		}
		if len(steps) == 0 {
			return made
		}
		c := 0
		if len(made) < len(choices) {
			c = choices[len(made)] & 0xff
		}
		made = append(made, len(steps)<<8|c)
		steps[c]()
	}
}

// next is the list of choices after a list, nil after the last.
func next(choices []int) []int {
	for n := len(choices); n > 0; n-- {
		if c := choices[n-1]; c&0xff+1 < c>>8 {
			return append(choices[:n-1], c+1)
		}
	}
	return nil
}

// Random runs: more messages, small and large, acknowledged one by one or many at once,
// with ranks of different degrees, and a death at any moment.
func TestRandom(t *testing.T) {
	for seed := range uint64(4000) {
		rng := rand.New(rand.NewPCG(seed, 2))
		degrees := []int{2 + rng.IntN(3), 1 + rng.IntN(4)}
		if seed%2 == 0 {
			degrees[1] = degrees[0]
		}
		total := 1 + rng.IntN(30)
		culprit, seq := -1, uint64(1+rng.IntN(total))
		if seed%4 < 2 && degrees[1] == degrees[0] {
			culprit = rng.IntN(degrees[0])
		}
		w := newModel(degrees, total, wrong(culprit, seq))
		w.large = func(n uint64) bool { return (n*2654435761+seed)>>7%4 == 0 }
		deaths := 0
		if culprit < 0 { // with one wrong as well, the vote may be undecided, or without effect
			deaths = rng.IntN(degrees[0])
		}
		for range 12 * total {
			switch rng.IntN(4) {
			case 0:
				w.send(rng.IntN(degrees[0]))
			case 1:
				w.arrive(rng.IntN(degrees[1]), rng.IntN(3) == 0)
			default:
				w.hear(rng.IntN(degrees[1]), rng.IntN(degrees[0]))
			}
			if deaths > 0 && rng.IntN(4*total) == 0 {
				deaths--
				rank := rng.IntN(2)
				if victim := rng.IntN(degrees[rank]); (first(degrees[rank]) &^ w.dead[rank] &^ only(victim)) != 0 {
					w.kill(rank, victim)
				}
			}
		}
		w.settle()
		if err := w.check(culprit, seq); err != nil {
			t.Fatalf("seed %d, degrees %v, %d messages, culprit %d: %v", seed, degrees, total, culprit, err)
		}
		for s, m := range w.senders {
			if c := m.sending.All(); culprit < 0 && !w.dead[0].has(s) && len(c) > 0 && (len(c[0].marks) > 1 || len(c[0].singles) > 0) {
				t.Fatalf("seed %d: sender %d keeps %d digests and the rendezvous %+v at the end; degrees %v dead %b sent %v arrived %v gone %b", seed, s, len(c[0].marks), c[0].singles, degrees, w.dead, w.sent, w.arrived, m.gone)
			}
		}
	}
}

// The stream of a wrong sender that dies before it is found is still wrong: its receiver has to
// stop.
func TestReceiverOfADeadSender(t *testing.T) {
	w := newModel([]int{3, 3}, 3, wrong(0, 2))
	for range 3 {
		for k := range 3 {
			w.send(k)
			w.arrive(k, true)
		}
	}
	w.kill(0, 0)
	w.settle()
	for s := 1; s < 3; s++ {
		if v := w.verdicts[s]; len(v) != 1 || v[0].Kind != Outvoted || v[0].Replica != 0 {
			t.Errorf("sender %d says %+v", s, v)
		}
	}
}

// All three differ: none is in a majority, and all stop.
func TestThreeOpinions(t *testing.T) {
	w := newModel([]int{3, 3}, 2, func(k int, seq uint64) uint32 { return uint32(k) })
	w.settle()
	for s := range 3 {
		if v := w.verdicts[s]; len(v) != 1 || v[0].Kind != Outnumbered || !w.senders[s].Condemned() {
			t.Errorf("sender %d says %+v", s, v)
		}
	}
}

// A process left with only one sibling, which differs, can't decide; nor can three senders
// whose receiver's rank has one replica.
func TestUndecided(t *testing.T) {
	w := newModel([]int{3, 3}, 2, wrong(2, 2))
	w.kill(0, 1)
	w.settle()
	for _, s := range []int{0, 2} {
		if v := w.verdicts[s]; len(v) != 1 || v[0].Kind != Undecided {
			t.Errorf("sender %d says %+v", s, v)
		}
	}
	w = newModel([]int{3, 1}, 2, wrong(0, 1))
	w.settle()
	for s := 1; s < 3; s++ {
		if v := w.verdicts[s]; len(v) != 1 || v[0].Kind != Undecided {
			t.Errorf("sender %d says %+v", s, v)
		}
	}
}

// A difference is found by the first acknowledgement that covers it, although more was sent
// since. A death also finds it, if that decides which processes can still say something.
func TestFoundAtOnce(t *testing.T) {
	w := newModel([]int{2, 2}, 5, wrong(1, 2))
	for n := range 5 {
		w.send(0)
		w.send(1)
		w.arrive(1, n == 1)
	}
	w.hear(1, 0)
	if v := w.verdicts[0]; len(v) != 1 || v[0].Kind != Undecided || v[0].First != 1 || v[0].Last != 2 || v[0].Tag != 5 {
		t.Errorf("%+v", v)
	}
	w = newModel([]int{3, 3}, 1, wrong(2, 1))
	for k := range 3 {
		w.send(k)
		w.arrive(k, true)
	}
	w.hear(2, 0)
	if v := w.verdicts[0]; len(v) != 0 {
		t.Errorf("one has differed, and the other has yet to tell: %+v", v)
	}
	w.kill(0, 1)
	if v := w.verdicts[0]; len(v) != 1 || v[0].Kind != Undecided {
		t.Errorf("nobody is left to decide: %+v", v)
	}
}

// A receiver that can't tell (its program received only part of a message) abstains.
func TestAbstention(t *testing.T) {
	m := New(Config{Ranks: 2, Degree: func(proto.Rank) int { return 2 }, Covers: func(j int) bool { return j == 0 }})
	var out Verdicts
	m.Sent(2, 1, 1, true, 5, 77, &out)
	m.Acked(1, 1, 2, 1, true, 0, false, &out)
	if len(out) > 0 || len(m.sending.All()[0].singles) > 0 {
		t.Errorf("%+v", out)
	}
}

// Every single wrong bit, a wrong tag and a wrong length change the sum.
func TestSum(t *testing.T) {
	data := []byte("what a message is about")
	sum := Sum(3, data)
	for i := range 8 * len(data) {
		data[i/8] ^= 1 << (i % 8)
		if Sum(3, data) == sum {
			t.Errorf("bit %d doesn't count", i)
		}
		data[i/8] ^= 1 << (i % 8)
	}
	if Sum(4, data) == sum || Sum(3, data[:len(data)-1]) == sum || Sum(3, append(data, 0)) == sum {
		t.Error("the tag or the length doesn't count")
	}
	if Sum(3, data) != sum {
		t.Error("it isn't a function")
	}
}

// Canaries: bugs that the tests above must find.
func TestCanaries(t *testing.T) {
	// A receiver whose digest forgets a message.
	w := newModel([]int{3, 3}, 2, wrong(1, 1))
	w.receivers[1].incoming(2, 0).digest = 0
	for range 2 {
		for k := range 3 {
			w.send(k)
			w.arrive(k, false)
		}
		for j := range 3 {
			w.receivers[j].incoming(2, 0).digest = 0
		}
		w.links = map[[2]int][]ack{}
	}
	if w.check(1, 1) == nil {
		t.Error("nobody notices that nothing was compared")
	}
	// A vote in which one voter is enough.
	w = newModel([]int{2, 2}, 2, wrong(1, 1))
	w.settle()
	for s := range w.verdicts {
		w.verdicts[s][0].Kind = Outvoted
	}
	if w.check(1, 1) == nil {
		t.Error("nobody notices that one has outvoted one")
	}
}

func BenchmarkSent(b *testing.B) {
	for _, size := range []int{8, 1 << 10, 64 << 10} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			data := make([]byte, size)
			m := New(Config{Ranks: 2, Degree: func(proto.Rank) int { return 2 }, Covers: func(j int) bool { return j == 0 }})
			var out Verdicts
			b.SetBytes(int64(size))
			for n := uint64(1); b.Loop(); n++ {
				sum := Sum(3, data)
				m.Sent(2, 1, n, false, 3, sum, &out)
				m.Arrived(2, 1, n, sum)
				if n%16 == 0 {
					m.Acked(1, 1, 2, n, false, m.Digest(2, 1), true, &out)
				}
			}
			if len(out) > 0 {
				b.Fatalf("%+v", out[0])
			}
		})
	}
}
