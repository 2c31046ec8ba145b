package pattern

import (
	"errors"
	"testing"

	"banyan/internal/proto"
	"banyan/internal/study/field"
)

// play carries a step of all ranks out on queues, and says what is left: receives that found no
// message, and messages that found no receive.
func play(p *Pattern) (waiting, left int) {
	type channel struct {
		to         proto.Rank
		from       proto.Rank // AnyRank: the sum of all
		collective bool
		tag        int32
	}
	balance := map[channel]int{}
	for r := range proto.Rank(p.Ranks) {
		for _, o := range p.Step(r, nil) {
			switch o.Kind {
			case Send:
				c := channel{o.Peer, r, o.Collective, o.Tag}
				balance[c]++
				c.from = proto.AnyRank
				balance[c]++
			case Receive:
				c := channel{r, o.Peer, o.Collective, o.Tag}
				balance[c]--
				if c.from != proto.AnyRank {
					c.from = proto.AnyRank
					balance[c]--
				}
			}
		}
	}
	for c, n := range balance {
		if c.from == proto.AnyRank || !p.AnySource() {
			waiting, left = waiting+max(0, -n), left+max(0, n)
		}
	}
	return waiting, left
}

// In every pattern each message has its receive, whatever the number of ranks is.
func TestMessagesHaveReceives(t *testing.T) {
	for _, kind := range Kinds() {
		for ranks := 2; ranks <= 40; ranks++ {
			for _, any := range []bool{false, true} {
				p, err := New(Spec{Kind: kind, Ranks: ranks, Bytes: 100, Any: any})
				var wrong *field.Error
				if errors.As(err, &wrong) && (wrong.Field == "any_source" || wrong.Field == "ranks") {
					continue
				}
				if err != nil {
					t.Fatal(err)
				}
				if waiting, left := play(p); waiting+left > 0 {
					t.Errorf("%s of %d ranks: %d receives without a message, %d messages without a receive", kind, ranks, waiting, left)
				}
			}
		}
	}
}

// Each rank computes once a step, in parts; a master only waits.
func TestShares(t *testing.T) {
	for _, kind := range Kinds() {
		p, err := New(Spec{Kind: kind, Ranks: 16, Bytes: 100})
		if err != nil {
			t.Fatal(err)
		}
		sum := 0.
		for _, o := range p.Step(1, nil) {
			sum += o.Share
		}
		if sum < .999 || sum > 1.001 {
			t.Errorf("%s: rank 1 computes %v of a step", kind, sum)
		}
	}
}

func TestPartners(t *testing.T) {
	p, err := New(Spec{Kind: "halo2d", Ranks: 12, Bytes: 1})
	if err != nil {
		t.Fatal(err)
	}
	all, err := p.Partners(1000)
	if err != nil || len(all[0]) != 2 || len(all[5]) != 4 {
		t.Errorf("a corner has %v, the middle %v, %v", all[0], all[5], err)
	}
	if p, err = New(Spec{Kind: "fft", Ranks: 64, Bytes: 1}); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Partners(1000); err == nil {
		t.Error("64·63 pairs are no more than 1000")
	}
}

func TestSpecErrors(t *testing.T) {
	for want, s := range map[string]Spec{
		"pattern":    {Kind: "halo", Ranks: 4},
		"ranks":      {Kind: "halo2d", Ranks: 1},
		"bytes":      {Kind: "halo2d", Ranks: 4, Bytes: -1},
		"levels":     {Kind: "multigrid", Ranks: 4, Levels: -1},
		"blocks":     {Kind: "sweep", Ranks: 4, Blocks: 1e6},
		"any_source": {Kind: "fft", Ranks: 4, Any: true},
	} {
		_, err := New(s)
		var wrong *field.Error
		if !errors.As(err, &wrong) || wrong.Field != want {
			t.Errorf("%+v: %v, want one about %s", s, err, want)
		}
	}
}
