package loggp

import (
	"math"

	"banyan/bench/peers"
	"banyan/internal/proto"
	"banyan/internal/study/replication"
)

// Cost is one of a network's costs, in nanoseconds: the median of the rounds with its quartiles.
type Cost struct {
	Name, Meaning string
	peers.Spread
}

// round is what the jobs of a round have measured.
type round struct {
	spinning, sleeping calls // without replicas
	replicated, each   calls // both sleep
}

// costs are those of one round, in the order of meanings. None is below 0.
func (r *round) costs() [7]float64 {
	c := &r.spinning
	half := make([]float64, len(sizes)) // what is neither in the one call nor in the other
	for i := range sizes {
		half[i] = c.OneWay[i] - c.Send[i] - c.Receive[i]
	}
	copying := max(0, (slope(c.Send)+slope(c.Receive))/2)
	perByte := max(0, slope(half))
	both := func(c *calls) float64 { return c.Send[0] + c.Receive[0] }
	overhead := both(c)/2 - copying*float64(sizes[0])
	all := [...]float64{
		half[0] - perByte*float64(sizes[0]), overhead, c.Train, perByte, copying,
		(r.each.Receive[0] - r.replicated.Receive[0]) / 2, // one is sent for each message, and one comes
		(both(&r.replicated) - both(&r.sleeping)) / 2,
	}
	for i := range all {
		all[i] = max(0, all[i])
	}
	return all
}

// meanings are those of the costs, and what the file of a network calls them.
var meanings = [7][2]string{
	{"latency", "L: from the end of sending to the begin of receiving"},
	{"overhead", "o: of a call that sends or receives"},
	{"gap", "g: from one message of a train to the next"},
	{"per_byte", "G: of each byte in the network"},
	{"per_copy", "to copy a byte into the network, or out of it"},
	{"acknowledge", "overhead of an acknowledgement"},
	{"replication", "what replication adds to an overhead"},
}

// slope is the median of the slopes between any two sizes (Theil and Sen).
func slope(values []float64) float64 {
	var all []float64
	for i := range sizes {
		for j := range i {
			all = append(all, (values[i]-values[j])/float64(sizes[i]-sizes[j]))
		}
	}
	return median(all)
}

// summary sums rounds up.
func summary(rounds []round) []Cost {
	var values [7][]float64
	for i := range rounds {
		for k, v := range rounds[i].costs() {
			values[k] = append(values[k], v)
		}
	}
	var all []Cost
	for k, v := range values {
		all = append(all, Cost{meanings[k][0], meanings[k][1], peers.SpreadOf(v)})
	}
	return all
}

// Network is the network that has such costs, for banyan sim replication --network.
func Network(name string, costs []Cost) replication.Network {
	n := replication.Network{Name: name}
	time := func(v float64) proto.Time { return proto.Time(math.Round(v)) }
	for _, c := range costs {
		switch v := c.Median; c.Name {
		case "latency":
			n.Costs.Latency = max(1, time(v)) // of 0 there is none
		case "overhead":
			n.Costs.Overhead = time(v)
		case "gap":
			n.Costs.Gap = time(v)
		case "per_byte":
			n.Costs.PerByte = thousandths(v)
		case "per_copy":
			n.Costs.PerCopy = thousandths(v)
		case "acknowledge":
			n.Costs.Acknowledge = time(v)
		case "replication":
			n.Costs.Replication = time(v)
		}
	}
	return n
}

func thousandths(v float64) float64 { return math.Round(1000*v) / 1000 }
