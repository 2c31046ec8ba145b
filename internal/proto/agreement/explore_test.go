package agreement

import (
	"fmt"
	"testing"

	"banyan/internal/testing/explore"
	"banyan/internal/topology"
)

const stateLimit = 100_000_000

// short are the worlds whose every interleaving CI visits: every death at every point, the
// root's among them, members that enter late, agreements in flight, and mistaken deaths.
var short = map[string]rules{
	"two members":       {members: 2, tree: star(2), rounds: 2, deaths: 1, overlap: true, close: true, payloads: true},
	"two in a row":      {members: 2, tree: binomial(2), rounds: 3, deaths: 1, payloads: true},
	"two, mistaken":     {members: 2, tree: star(2), rounds: 2, deaths: 1, overlap: true, suspicion: true, close: true},
	"closed, star":      {members: 3, tree: star(3), rounds: 1, deaths: 2, close: true},
	"closed, chain":     {members: 3, tree: chain(3), rounds: 1, deaths: 2, close: true},
	"mistaken, star":    {members: 3, tree: star(3), rounds: 1, deaths: 2, suspicion: true},
	"mistaken, chain":   {members: 3, tree: chain(3), rounds: 1, deaths: 2, suspicion: true},
	"mistaken, closed":  {members: 3, tree: star(3), rounds: 1, deaths: 1, suspicion: true, close: true},
	"in flight, star":   {members: 3, tree: star(3), rounds: 2, deaths: 1, overlap: true},
	"in flight, chain":  {members: 3, tree: chain(3), rounds: 2, deaths: 2, overlap: true, payloads: true},
	"in a row, chain":   {members: 3, tree: chain(3), rounds: 2, deaths: 2},
	"strict":            {members: 3, tree: chain(3), rounds: 2, deaths: 2, strict: true},
	"four, chain":       {members: 4, tree: chain(4), rounds: 1, deaths: 2, payloads: true},
	"four, binomial":    {members: 4, tree: binomial(4), rounds: 1, deaths: 2},
	"only closed":       {members: 3, tree: chain(3), deaths: 1, close: true, keep: Set{0b001}, late: Set{0b100}},
	"only closed, four": {members: 4, tree: binomial(4), deaths: 1, close: true, keep: Set{0b1010}, late: Set{0b0100}},
	"only closed, two":  {members: 3, tree: star(3), deaths: 1, close: true, keep: Set{0b110}, late: Set{0b010}},
	"left, two":         {members: 2, tree: star(2), rounds: 2, deaths: 1, overlap: true, payloads: true, leavers: Set{0b11}, prompts: true},
	"left, star":        {members: 3, tree: star(3), rounds: 1, deaths: 1, payloads: true, leavers: Set{0b111}, prompts: true},
	"left, chain":       {members: 3, tree: chain(3), rounds: 1, deaths: 1, payloads: true, leavers: Set{0b111}, prompts: true},
	"left, in a row":    {members: 3, tree: chain(3), rounds: 2, leavers: Set{0b111}, prompts: true},
	"never open, root":  {members: 3, tree: star(3), rounds: 2, deaths: 1, payloads: true, never: Set{0b001}, prompts: true},
	"never open, child": {members: 3, tree: star(3), rounds: 2, deaths: 1, never: Set{0b100}, prompts: true},
	"never open, chain": {members: 3, tree: chain(3), rounds: 1, deaths: 1, payloads: true, never: Set{0b010}, prompts: true},
	"never open, top":   {members: 3, tree: chain(3), rounds: 1, deaths: 1, never: Set{0b001}, prompts: true},
	"never open, two":   {members: 2, tree: star(2), rounds: 2, overlap: true, never: Set{0b001}, prompts: true},
	"never open, most":  {members: 4, tree: chain(4), rounds: 1, never: Set{0b0101}, prompts: true},
	"left, mistaken":    {members: 3, tree: chain(3), rounds: 1, deaths: 1, suspicion: true, leavers: Set{0b011}, prompts: true},
}

// long are those of "make soak".
var long = map[string]rules{
	"mistaken, four":           {members: 4, tree: binomial(4), rounds: 1, deaths: 2, suspicion: true},
	"mistaken, four, chain":    {members: 4, tree: chain(4), rounds: 1, deaths: 2, suspicion: true},
	"mistaken, in flight":      {members: 3, tree: chain(3), rounds: 2, deaths: 2, overlap: true, suspicion: true},
	"in flight, closed":        {members: 3, tree: chain(3), rounds: 2, deaths: 2, overlap: true, close: true},
	"in flight, four":          {members: 4, tree: binomial(4), rounds: 2, deaths: 1, overlap: true},
	"four, closed":             {members: 4, tree: binomial(4), rounds: 1, deaths: 2, close: true},
	"four, star, three deaths": {members: 4, tree: star(4), rounds: 1, deaths: 3, payloads: true},
	"four, three deaths":       {members: 4, tree: binomial(4), rounds: 1, deaths: 3, payloads: true},
	"five, binomial":           {members: 5, tree: binomial(5), rounds: 1, deaths: 2},
	"five, two levels":         {members: 5, tree: must(topology.KAry(5, 2, topology.Interleaved)), rounds: 1, deaths: 2},
	"left, four, chain":        {members: 4, tree: chain(4), rounds: 1, deaths: 1, payloads: true, leavers: Set{0b1111}, prompts: true},
	"left, in flight":          {members: 3, tree: chain(3), rounds: 2, deaths: 1, overlap: true, leavers: Set{0b111}, prompts: true},
	"left, closed":             {members: 3, tree: star(3), rounds: 1, deaths: 1, close: true, leavers: Set{0b111}, prompts: true},
	"only closed, two deaths":  {members: 4, tree: binomial(4), deaths: 2, close: true, keep: Set{0b1010}, late: Set{0b0100}},
}

func TestExhaustive(t *testing.T) {
	visit := func(name string, r rules) {
		t.Run(name, func(t *testing.T) {
			stats, err := explore.All(r.world(), stateLimit)
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%+v", stats)
		})
	}
	for name, r := range short {
		visit(name, r)
	}
	if explore.Long() {
		for name, r := range long {
			visit(name, r)
		}
	}
}

// TestRandom lets up to 256 members agree in orders chosen by a seed, while many die, or a whole
// side is cut off and taken for dead.
func TestRandom(t *testing.T) {
	seeds := uint64(160)
	if explore.Long() {
		seeds = 5_000
	}
	for seed := uint64(1); seed <= seeds; seed++ {
		n := 2 + int(seed*7%15)
		switch {
		case seed%100 == 0:
			n = 256
		case seed%50 == 0:
			n = 48
		}
		trees := []topology.Tree{star(n), binomial(n), must(topology.Binomial(n, topology.Interleaved)), must(topology.KAry(n, 2, topology.Interleaved))}
		r := rules{
			members: n, tree: trees[seed%4], rounds: 1 + int(seed%3), deaths: int(seed % uint64(n)),
			overlap: seed%2 == 0, suspicion: seed%3 == 0 && n < 100, close: seed%5 < 3,
		}
		if r.suspicion {
			for m := n - int(seed%uint64(n)); m < n; m++ {
				r.cut = r.cut.With(m)
			}
		}
		if seed%7 < 2 && !r.close {
			r.prompts = true
			for m := int(seed % 3); m < n; m += 3 {
				r.leavers = r.leavers.With(m)
			}
		}
		if seed%11 == 3 && !r.close && !r.suspicion {
			r.prompts = true
			r.never = Set(nil).With(int(seed/11) % n).With(int(seed/7) % n)
			r.leavers = nil
		}
		if n > 16 {
			r.deaths = min(r.deaths, 3+n/50)
		}
		if err := explore.Random(r.world(), seed, 10_000*n); err != nil {
			t.Fatalf("%s: %v", fmt.Sprint(n, " members"), err)
		}
	}
}
