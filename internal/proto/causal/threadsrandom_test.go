package causal

import (
	"flag"
	"math/rand/v2"
	"testing"
)

var threadPrograms = flag.Int("threadprograms", 40, "how many programs TestRandomThreads makes")

// someProgram makes a program of which no schedule hangs without replicas: it is the record of a
// run. At a rank, either all receives on a context name their source or none does, and one thread
// makes them.
func someProgram(rng *rand.Rand) program {
	const contexts = 3
	ranks := 3 + rng.IntN(2)
	p := make(program, ranks)
	var unnamed [contexts][4]bool
	for r := range p {
		p[r] = make([][]operation, 1+rng.IntN(2)*(1+rng.IntN(2)))
		for c := range contexts {
			unnamed[c][r] = rng.IntN(6) == 0
		}
	}
	label, at := byte('A'), 0
	var late []coordinate // messages that are received later
	do := func(r int, o operation) {
		thread := o.context % len(p[r])
		if other := rng.IntN(len(p[r])); other != thread && rng.IntN(8) == 0 {
			p[r][thread] = append(p[r][thread], after(other, len(p[r][other])))
		}
		p[r][thread] = append(p[r][thread], o)
	}
	receives := func(c coordinate) {
		if unnamed[c.context][c.to] {
			c.from = anySource
		}
		do(c.to, receive(c.context, c.from, 0))
	}
	for range 4 + rng.IntN(8) { // mostly, who has received sends next
		c := coordinate{rng.IntN(contexts), at, (at + 1 + rng.IntN(ranks-1)) % ranks}
		do(at, send(c.context, c.to, label))
		label++
		if rng.IntN(4) == 0 {
			late = append(late, c)
			at = rng.IntN(ranks)
			continue
		}
		for i := 0; i < len(late); i++ { // a channel's messages are received in their order
			if late[i] == c || rng.IntN(3) == 0 {
				receives(late[i])
				late = append(late[:i], late[i+1:]...)
				i--
			}
		}
		receives(c)
		at = c.to
	}
	return p
}

// The rule that is built neither hangs nor loses a cause in programs made at random, with two
// replicas. The one before it hangs in some of them.
func TestRandomThreads(t *testing.T) {
	hung, refused := 0, 0
	for number := range uint64(*threadPrograms) {
		p := someProgram(rand.New(rand.NewPCG(number, 2)))
		legal := legalIn(t, p)
		for seed := range uint64(200) {
			switch got := try(p, rules["threads lose causes"], 2, legal, seed); got {
			case hangs, loses:
				t.Fatalf("program %d, seed %d: outcome %d: %+v", number, seed, got, p)
			case refuses:
				refused++
			}
			if try(p, rules["threads refuse any source"], 2, legal, seed) == hangs {
				hung++
			}
		}
	}
	t.Logf("refused: %d; by the rule before: %d hung", refused, hung)
	if refused == 0 || hung == 0 && *threadPrograms >= 1000 {
		t.Error("these programs show nothing")
	}
}
