package replica

import (
	"math/rand/v2"
	"reflect"
	"testing"

	"banyan/internal/layout"
	"banyan/internal/proto"
)

// TestSendOne sends the same messages by Send at one machine and by SendOne, where SendOne can
// send them, at another, between acknowledgements (early and late), rendezvous and deaths. Both
// machines must ask for the same actions.
func TestSendOne(t *testing.T) {
	const contexts, steps = 2, 200
	ones, retained := 0, 0
	for seed := range uint64(200) {
		random := rand.New(rand.NewPCG(seed, 1))
		degree := 1 + random.IntN(4)
		layout := layout.Uniform(3, degree)
		self := layout.Proc(0, random.IntN(degree))
		a := New(Config{Layout: layout, Self: self, Mirror: seed%7 == 0})
		b := a.clone()
		for range steps {
			var wants, gets Actions
			context, dst := uint64(random.IntN(contexts)), 1+proto.Rank(random.IntN(2))
			switch random.IntN(8) {
			default:
				a.Send(&Message{Context: context, Dst: dst, Total: 8}, &wants)
				if s, ok := b.SendOne(context, dst); !ok {
					b.Send(&Message{Context: context, Dst: dst, Total: 8}, &gets)
				} else {
					ones++
					m := &Message{Context: context, Dst: dst, Total: 8, Seq: s.Seq}
					gets.transmit(m, s.To)
					if s.Pending() {
						retained++
						b.Retain(&s, m)
					} else {
						gets.release(m)
					}
				}
			case 0:
				a.Send(&Message{Context: context, Dst: dst, Total: 8, Rendezvous: true}, &wants)
				b.Send(&Message{Context: context, Dst: dst, Total: 8, Rendezvous: true}, &gets)
			case 1, 2:
				seq, single := uint64(1+random.IntN(steps/4)), random.IntN(4) == 0
				from := layout.Proc(dst, random.IntN(degree))
				a.Acked(from, context, seq, single, &wants)
				b.Acked(from, context, seq, single, &gets)
			case 3:
				if random.IntN(20) == 0 {
					p := proto.Proc(random.IntN(layout.Procs()))
					a.Dead(p, 0, &wants)
					b.Dead(p, 0, &gets)
				}
			}
			if !same(wants, gets) || a.sending.messages != b.sending.messages || a.sending.bytes != b.sending.bytes {
				t.Fatalf("seed %d: got %d actions and %d messages retained, want %d and %d", seed, len(gets), b.sending.messages, len(wants), a.sending.messages)
			}
		}
	}
	if ones < 1000 || retained < 1000 || ones-retained < 1000 {
		t.Errorf("%d sent by SendOne, %d of them retained: the test has become weak", ones, retained)
	}
}

// same compares actions, and messages by their content.
func same(a, b Actions) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		x, y := a[i], b[i]
		if (x.Message == nil) != (y.Message == nil) {
			return false
		}
		if x.Message != nil && (x.Message.Context != y.Message.Context || x.Message.Dst != y.Message.Dst || x.Message.Seq != y.Message.Seq) {
			return false
		}
		if x.Message, y.Message = nil, nil; !reflect.DeepEqual(x, y) {
			return false
		}
	}
	return true
}
