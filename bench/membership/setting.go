package membership

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"banyan/internal/study/field"
	"banyan/internal/study/planning/viewtime"
)

// Kind is a kind of change.
type Kind uint8

// The kinds.
const (
	Node    Kind = iota // a member other than the root dies
	Root                // the root dies
	Several             // some other than the root die at once
	Join                // one joins
)

var kindNames = [...]string{"node", "root", "several", "join"}

// Fault is what happens to a group.
type Fault struct {
	Kind  Kind
	Count int // deaths, of Several
}

// defaultSeveral is how many die if the fault doesn't say it.
const defaultSeveral = 2

// ParseFault reads node, root, join, several or several:K.
func ParseFault(text string) (Fault, error) {
	name, count, counted := strings.Cut(text, ":")
	for i, n := range kindNames {
		f := Fault{Kind: Kind(i)}
		if n != name || counted && f.Kind != Several {
			continue
		}
		if f.Kind == Several {
			f.Count = defaultSeveral
		}
		if counted {
			var err error
			if f.Count, err = strconv.Atoi(count); err != nil || f.Count < 1 {
				return f, fmt.Errorf("%q: want a number of deaths from 1 after the colon", text)
			}
		}
		return f, nil
	}
	return Fault{}, fmt.Errorf("unknown fault %q: want node, root, several, several:K or join", text)
}

func (f Fault) String() string {
	if f.Kind == Several {
		return fmt.Sprintf("several:%d", f.Count)
	}
	return kindNames[f.Kind]
}

// Deaths is how many die.
func (f Fault) Deaths() int { return [...]int{1, 1, f.Count, 0}[f.Kind] }

// MaxMembers bounds a group.
const MaxMembers = 1024

// Setting is one thing to measure.
type Setting struct {
	N     int // members before the change
	Arity int
	Fault Fault
}

// Agree is how many members agree on the new view: the live ones, without one that joins.
func (s *Setting) Agree() int { return s.N - s.Fault.Deaths() }

func (s *Setting) String() string {
	return fmt.Sprintf("%d members, arity %d, %v", s.N, s.Arity, s.Fault)
}

// Check returns an error for a setting that makes no sense. It names the flag.
func (s *Setting) Check() error {
	switch {
	case s.N < 2 || s.N > MaxMembers:
		return fmt.Errorf("-n %d: want 2 to %d members", s.N, MaxMembers)
	case s.Agree() < 1:
		return fmt.Errorf("--fault %v: of %d members at least one must live", s.Fault, s.N)
	}
	var wrong *field.Error
	if err := (&viewtime.Model{}).ValidateTree(s.N, s.Arity); errors.As(err, &wrong) {
		return fmt.Errorf("--%s: %w", wrong.Field, wrong.Err)
	}
	return nil
}

// ParseMembers reads numbers of members: single ones and ranges, as in 3..47,64,128.
func ParseMembers(text string) ([]int, error) {
	var all []int
	for _, part := range strings.Split(text, ",") {
		first, last, is := strings.Cut(part, "..")
		from, err := strconv.Atoi(strings.TrimSpace(first))
		to := from
		if err == nil && is {
			to, err = strconv.Atoi(strings.TrimSpace(last))
		}
		if err != nil || from < 1 || to > MaxMembers {
			return nil, fmt.Errorf("%q: want numbers from 2 to %d, or ranges such as 3..47", part, MaxMembers)
		}
		if to < from {
			return nil, fmt.Errorf("%q: a range goes up", part)
		}
		for n := from; n <= to; n++ {
			all = append(all, n)
		}
	}
	return all, nil
}
