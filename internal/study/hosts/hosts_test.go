package hosts

import (
	"context"
	"errors"
	"testing"

	"banyan/internal/proto"
	"banyan/internal/study/field"
)

func run(t *testing.T, s Settings, seed uint64) Outcome {
	t.Helper()
	o, err := Run(s, seed)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// TestFaults: what must be reached is reached, within the bounds of the theorem of package steward.
// No live host is held for lost.
func TestFaults(t *testing.T) {
	for _, hosts := range []int{3, 8, 100} {
		for fault := Start; fault <= Console; fault++ {
			s := Defaults()
			s.Hosts, s.Rack, s.Fault = hosts, max(1, hosts/8), fault
			o := run(t, s, uint64(hosts))
			slack := Second / 20 // for 8τ, and for clocks
			verdict := s.Lease + s.Margin + s.Renew + slack
			within := func(what string, took, most proto.Time, applies bool) {
				if applies && took > most || !applies && took != proto.Never {
					t.Errorf("%d hosts, %v: %s after %d, want %d at most", hosts, fault, what, took, most)
				}
			}
			dies := fault != Start
			within("up", o.Up, s.Renew+3*(s.Start+32*s.Fork)+slack, !dies)
			within("verdict", o.Verdict, verdict, dies)
			within("told", o.Told, verdict+slack, dies)
			within("restarted", o.Restarted, verdict+2*s.Renew, dies && fault != Console)
			within("steward", o.Steward, s.Patience+s.Renew+slack, fault == Steward)
			within("over", o.Over, verdict+2*s.Renew, fault == Console)
			if o.Wrong != 0 {
				t.Errorf("%d hosts, %v: %d live hosts count as lost", hosts, fault, o.Wrong)
			}
		}
	}
}

// TestRates: without faults a host asks each voter once in Settings.Renew, and a voter answers all.
func TestRates(t *testing.T) {
	s := Defaults()
	s.Hosts = 64
	o := run(t, s, 1)
	asks := float64(Second) / float64(s.Renew)
	// A voter's question to itself isn't a message, nor is its answer.
	mean := 2 * asks * float64(s.Voters*(s.Hosts-1)) / float64(s.Hosts)
	most := asks * float64(s.Hosts-1+s.Voters-1)
	if o.Rate < mean*0.8 || o.Rate > mean*1.1 || o.MostRate < most*0.8 || o.MostRate > most*1.1 {
		t.Errorf("%.1f messages a second, %.1f of a voter: want about %.1f and %.1f", o.Rate, o.MostRate, mean, most)
	}
}

// TestContinue: a job that goes on without its console doesn't end.
func TestContinue(t *testing.T) {
	s := Defaults()
	s.Hosts, s.Fault, s.Continue = 16, Console, true
	if o := run(t, s, 1); o.Over != proto.Never || o.Told == proto.Never {
		t.Errorf("%+v", o)
	}
}

// TestCampaign: outcomes depend on the seed alone, and settings that make no sense are refused.
func TestCampaign(t *testing.T) {
	c := Campaign{Settings: Defaults(), Runs: 3, Seed: 7, Workers: 2}
	c.Hosts = 12
	one, err := c.Run(context.Background(), nil)
	if err != nil {
		t.Fatal(err)
	}
	c.Workers = 1
	two, err := c.Run(context.Background(), nil)
	if err != nil || one[0] != two[0] || one[2] != two[2] || one[0] == one[1] {
		t.Errorf("%+v, %+v, %v", one, two, err)
	}
	for _, wrong := range []func(c *Campaign){
		func(c *Campaign) { c.Hosts = 1 },
		func(c *Campaign) { c.Hosts = MaxHosts + 1 },
		func(c *Campaign) { c.Rack = 0 },
		func(c *Campaign) { c.Rack, c.Fault = 12, Rack },
		func(c *Campaign) { c.Lease = c.Renew },
		func(c *Campaign) { c.Margin = 0 },
		func(c *Campaign) { c.Overhead = 0 },
		func(c *Campaign) { c.Runs = 0 },
	} {
		c := c
		wrong(&c)
		var e *field.Error
		if err := c.Validate(); !errors.As(err, &e) {
			t.Errorf("%+v: %v", c, err)
		}
	}
}
