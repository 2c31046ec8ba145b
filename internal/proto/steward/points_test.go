package steward

import (
	"fmt"
	"testing"

	"banyan/internal/proto"
	"banyan/internal/testing/explore"
)

// TestPoints lets each fault strike a job of two to four hosts, with a witness or without, at
// moments 250 ms apart: deaths, pauses shorter and longer than a lease, cuts and one-way losses
// that heal or don't. Thorough, they are 50 ms apart, and a second fault follows, a second apart.
func TestPoints(t *testing.T) {
	step, second := sec/4, false
	if explore.Long() {
		step, second = sec/20, true
	}
	runs := 0
	for hosts := 2; hosts <= 4; hosts++ {
		for _, witness := range []bool{false, true} {
			s := setting{hosts: hosts, witness: witness, procs: hosts, drift: 1000}
			parties := hosts + b2i(witness)
			for h := range Host(parties) {
				for at := 3 * sec; at < 3*sec+sec/2; at += step {
					for kind := kill; kind <= closed; kind++ {
						for _, span := range []proto.Time{2 * sec, 7 * sec, 40 * sec} {
							if (kind == kill || kind == closed) && span > 2*sec {
								continue
							}
							f := fault{kind: kind, host: h, side: 1 << h, at: at, until: at + span}
							faults := [][]fault{{f}}
							if second {
								for next := range Host(parties) {
									for after := sec / 2; after < 9*sec; after += sec {
										faults = append(faults, []fault{f, {kind: kill, host: next, at: at + after}})
										faults = append(faults, []fault{f, {kind: cut, host: next, side: 1 << next, at: at + after, until: at + after + 8*sec}})
									}
								}
							}
							for _, list := range faults {
								runs++
								if err := play(s, uint64(runs), list, 45*sec); err != nil {
									t.Fatal(fmt.Errorf("%+v, %v: %w", s, list, err))
								}
							}
						}
					}
				}
			}
		}
	}
	t.Logf("%d runs", runs)
}
