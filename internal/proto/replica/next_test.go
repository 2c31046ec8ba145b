package replica

import (
	"math/rand/v2"
	"reflect"
	"testing"

	"banyan/internal/layout"
	"banyan/internal/proto"
)

// TestNext has the same messages arrive at one machine by Arrive and at another by Next, where Next
// takes them: in order and not, from the living and the dead, between acknowledgements. What Next
// takes Arrive accepts, and the machines stay the same.
func TestNext(t *testing.T) {
	const contexts, steps = 2, 200
	taken, left := 0, 0
	for seed := range uint64(200) {
		random := rand.New(rand.NewPCG(seed, 2))
		degree := 1 + random.IntN(4)
		layout := layout.Uniform(3, degree)
		a := New(Config{Layout: layout, Self: layout.Proc(0, random.IntN(degree)), Mirror: seed%7 == 0})
		b := a.clone()
		for range steps {
			var wants, gets Actions
			context, src := uint64(random.IntN(contexts)), 1+proto.Rank(random.IntN(2))
			from := layout.Proc(src, random.IntN(degree))
			switch random.IntN(10) {
			default:
				seq := a.ArrivedOn(context, src) + uint64(random.IntN(3))
				if random.IntN(20) == 0 {
					from = proto.Proc(random.IntN(layout.Procs()+2)) - 1
				}
				want, got := a.Arrive(from, context, seq, false), Accept
				if b.Next(from, src, context, seq) {
					taken++
				} else if got = b.Arrive(from, context, seq, false); got == Accept {
					left++
				}
				if want != got {
					t.Fatalf("seed %d: number %d from %v: %v, want %v", seed, seq, from, got, want)
				}
			case 0:
				seq := a.ArrivedOn(context, src) + 1
				if want, got := a.Arrive(from, context, seq, true), b.Arrive(from, context, seq, true); want != got {
					t.Fatalf("seed %d: offer %d from %v: %v, want %v", seed, seq, from, got, want)
				}
			case 1:
				a.FlushAcks(&wants)
				b.FlushAcks(&gets)
			case 2:
				if random.IntN(20) == 0 {
					p := proto.Proc(random.IntN(layout.Procs()))
					a.Dead(p, 0, &wants)
					b.Dead(p, 0, &gets)
				}
			}
			if !reflect.DeepEqual(wants, gets) || a.AcksOwed() != b.AcksOwed() {
				t.Fatalf("seed %d: %d actions and %d arrivals owed, want %d and %d", seed, len(gets), b.AcksOwed(), len(wants), a.AcksOwed())
			}
			for i, c := range a.arrival.channels.All() {
				if d := b.arrival.channels.All()[i]; !reflect.DeepEqual(c, d) {
					t.Fatalf("seed %d: the channel is %+v, want %+v", seed, d, c)
				}
			}
		}
	}
	if taken < 5000 || left < 100 {
		t.Errorf("%d taken by Next, %d by Arrive: the test has become weak", taken, left)
	}
}
