package wire

import (
	"fmt"

	"banyan/internal/job/agent"
	"banyan/internal/proto"
)

// Specs are processes to be started. The strings of all of them stand in one table, each once: the
// environments of a job's processes are the same but for some variables. They are bytes, because
// neither paths nor environments need be UTF-8.
type Specs struct {
	Strings [][]byte `json:"strings"`
	Specs   []spec   `json:"specs"`
}

// spec is an agent.Spec with numbers of strings.
type spec struct {
	Proc        proto.Proc        `json:"proc"`
	Incarnation proto.Incarnation `json:"incarnation,omitempty"`
	Path        int               `json:"path"`
	Argv        []int             `json:"argv"`
	Dir         int               `json:"dir"`
	MakeDir     bool              `json:"make_dir,omitempty"`
	Env         []int             `json:"env"`
	Input       agent.InputKind   `json:"input,omitempty"`
	Replacement bool              `json:"replacement,omitempty"`
	Cores       []int             `json:"cores,omitempty"`
	// Trace is agent.Trace's Begin, by the agent's CLOCK_BOOTTIME.
	Trace     *int64 `json:"trace,omitempty"`
	Snapshots bool   `json:"snapshots,omitempty"`
	Counters  bool   `json:"counters,omitempty"`
}

// Pack makes Specs.
func Pack(specs []agent.Spec) *Specs {
	p, known := &Specs{}, make(map[string]int)
	number := func(s string) int {
		n, ok := known[s]
		if !ok {
			n = len(p.Strings)
			known[s] = n
			p.Strings = append(p.Strings, []byte(s))
		}
		return n
	}
	numbers := func(strings []string) []int {
		n := make([]int, len(strings))
		for i, s := range strings {
			n[i] = number(s)
		}
		return n
	}
	for _, s := range specs {
		var begin *int64
		if s.Trace != nil {
			begin = &s.Trace.Begin
		}
		p.Specs = append(p.Specs, spec{
			s.Proc, s.Incarnation, number(s.Path), numbers(s.Argv), number(s.Dir), s.MakeDir, numbers(s.Env), s.Input, s.Replacement, s.Cores, begin, s.Snapshots, s.Counters,
		})
	}
	return p
}

// Unpack is what was packed.
func (p *Specs) Unpack() (specs []agent.Spec, err error) {
	table := make([]string, len(p.Strings))
	for i, b := range p.Strings {
		table[i] = string(b)
	}
	text := func(n int) string {
		if n < 0 || n >= len(table) {
			err = fmt.Errorf("%w: there is no string %d", ErrCorrupt, n)
			return ""
		}
		return table[n]
	}
	texts := func(numbers []int) []string {
		t := make([]string, len(numbers))
		for i, n := range numbers {
			t[i] = text(n)
		}
		return t
	}
	for _, s := range p.Specs {
		if s.Proc < 0 || s.Input > agent.AskedInput {
			return nil, fmt.Errorf("%w: a spec of %v", ErrCorrupt, s.Proc)
		}
		var trace *agent.Trace
		if s.Trace != nil {
			trace = &agent.Trace{Begin: *s.Trace}
		}
		specs = append(specs, agent.Spec{
			Proc: s.Proc, Incarnation: s.Incarnation, Path: text(s.Path), Argv: texts(s.Argv), Dir: text(s.Dir), MakeDir: s.MakeDir, Env: texts(s.Env),
			Input: s.Input, Replacement: s.Replacement, Cores: s.Cores, Trace: trace, Snapshots: s.Snapshots, Counters: s.Counters,
		})
	}
	return specs, err
}
