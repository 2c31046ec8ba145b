package replication

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"banyan/internal/proto"
	"banyan/internal/study/driver/loggp"
	"banyan/internal/study/field"
)

// Network is a set of Costs with a name, as a file describes it:
//
//	{"name": "my cluster", "latency": "1.1us", "overhead": "300ns", "gap": "300ns",
//	 "per_byte": 0.5, "per_copy": 0.1, "acknowledge": "300ns", "replication": "60ns"}
//
// per_byte and per_copy are nanoseconds. What is missing is 0, but for acknowledge: it is the
// overhead then.
type Network struct {
	Name  string
	Costs Costs
}

// Networks are those that have a name of their own. InfiniBand has the paper's 1.67 µs from one end
// to the other for a byte, and the 2 GB/s that 20 Gbit/s leave for data; how the latency splits
// into L and o, and the gap, are guesses, as are all figures of ethernet (10 Gbit/s, TCP). The
// costs of replication and copies are those of a processor of 2026.
func Networks() []Network {
	return []Network{
		{"infiniband", Costs{Model: loggp.Model{Latency: 1070, Overhead: 300, Gap: 300, PerByte: .5}, PerCopy: .1, Acknowledge: 300, Replication: 60}},
		{"ethernet", Costs{Model: loggp.Model{Latency: 12_000, Overhead: 3000, Gap: 1000, PerByte: .8}, PerCopy: .1, Acknowledge: 3000, Replication: 60}},
	}
}

// NetworkNamed finds one of them.
func NetworkNamed(name string) (Network, bool) {
	all := Networks()
	i := slices.IndexFunc(all, func(n Network) bool { return n.Name == name })
	if i < 0 {
		return Network{}, false
	}
	return all[i], true
}

// networkFile is the form of a file.
type networkFile struct {
	Name        string  `json:"name"`
	Latency     string  `json:"latency"`
	Overhead    string  `json:"overhead"`
	Gap         string  `json:"gap"`
	PerByte     float64 `json:"per_byte"`
	PerCopy     float64 `json:"per_copy"`
	Acknowledge string  `json:"acknowledge,omitempty"`
	Replication string  `json:"replication,omitempty"`
}

// ReadNetwork reads a file.
func ReadNetwork(r io.Reader) (Network, error) {
	var f networkFile
	d := json.NewDecoder(r)
	d.DisallowUnknownFields()
	if err := d.Decode(&f); err != nil {
		return Network{}, fmt.Errorf("want an object as {\"latency\": \"1.1us\", \"overhead\": \"300ns\", \"gap\": \"300ns\", \"per_byte\": 0.5}: %w", err)
	}
	n := Network{Name: f.Name, Costs: Costs{Model: loggp.Model{PerByte: f.PerByte}, PerCopy: f.PerCopy}}
	if f.Acknowledge == "" {
		f.Acknowledge = f.Overhead
	}
	for _, t := range []struct {
		name, text string
		into       *proto.Time
	}{
		{"latency", f.Latency, &n.Costs.Latency}, {"overhead", f.Overhead, &n.Costs.Overhead}, {"gap", f.Gap, &n.Costs.Gap},
		{"acknowledge", f.Acknowledge, &n.Costs.Acknowledge}, {"replication", f.Replication, &n.Costs.Replication},
	} {
		if t.text == "" {
			continue
		}
		d, err := time.ParseDuration(t.text)
		if err != nil {
			return Network{}, field.Errorf(t.name, "%q: want a time, such as 1.1us", t.text)
		}
		*t.into = proto.Time(d)
	}
	return n, n.Costs.Validate()
}

// WriteTo writes the file.
func (n *Network) WriteTo(w io.Writer) (int64, error) {
	c := &n.Costs
	text := func(t proto.Time) string { return strings.ReplaceAll(time.Duration(t).String(), "µ", "u") }
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetIndent("", "  ")
	if err := e.Encode(networkFile{
		n.Name, text(c.Latency), text(c.Overhead), text(c.Gap), c.PerByte, c.PerCopy, text(c.Acknowledge), text(c.Replication),
	}); err != nil {
		return 0, err
	}
	return out.WriteTo(w)
}
