// Package hosts says which hosts a job may use: those of --host or of a host file, or those that
// Slurm, PBS or the MPI Operator has allocated. It reads what Open MPI, MPICH and Intel MPI read.
//
//	--host a:8,b:8            list.go
//	--hostfile FILE           file.go
//	an allocation             allocation.go, slurm.go, pbs.go, operator.go
//	is it this machine?       here.go
//
// # Invariants
//
//   - A name is never an option of the command that gets it (it doesn't begin with a dash), and
//     has no character that a shell reads.
//   - In a list each host stands once. Either every host has a number of slots, or none has.
//   - Every error says what is wrong in which list, or in which line of which file.
//
// # Limits
//
// Relative names ("+n0"), excluded hosts ("^host") and ranges ("node[1-4]") of other MPIs' host
// files are refused.
package hosts

import (
	"cmp"
	"errors"
	"fmt"
	"net/netip"
	"strings"
)

// Host is an entry of a list of hosts.
type Host struct {
	Name  string // a name or an address, without brackets
	User  string // to log in as; empty: as here
	Slots int    // how many processes it is for; 0: as many as are needed
	Max   int    // how many processes it may have if it must have more than Slots; 0: any number
	Rack  string // what else fails with it; empty: unknown
	Zone  string // what else fails with its rack; empty: unknown
}

// List is a list of hosts in the order in which they are to be used.
type List []Host

// Slots counts the slots of all hosts, 0 if they have no numbers.
func (l List) Slots() (n int) {
	for _, h := range l {
		n += h.Slots
	}
	return n
}

// Index is the place of a host in the list, or -1.
func (l List) Index(name string) int {
	for i, h := range l {
		if h.Name == name {
			return i
		}
	}
	return -1
}

// Join makes one list of the entries of several.
func Join(entries List) (List, error) { return merge(entries) }

// merge makes one entry of those with the same name. A host that is named several times has as many
// slots as all its entries, at least one for each. If any host has a number, those without have one
// slot.
func merge(entries List) (List, error) {
	var merged List
	at := make(map[string]int)
	numbers := false
	for _, h := range entries {
		i, again := at[h.Name]
		if !again {
			at[h.Name] = len(merged)
			merged = append(merged, h)
			numbers = numbers || h.Slots > 0
			continue
		}
		m := &merged[i]
		m.Slots = max(m.Slots, 1) + max(h.Slots, 1)
		m.Max += h.Max
		numbers = true
		for _, x := range []struct {
			what, new string
			old       *string
		}{{"rack", h.Rack, &m.Rack}, {"zone", h.Zone, &m.Zone}, {"user", h.User, &m.User}} {
			if x.new != "" && *x.old != "" && x.new != *x.old {
				return nil, fmt.Errorf("host %s has two names of its %s, %s and %s", h.Name, x.what, *x.old, x.new)
			}
			*x.old = cmp.Or(*x.old, x.new)
		}
	}
	for i := range merged {
		h := &merged[i]
		if numbers {
			h.Slots = max(h.Slots, 1)
		}
		if h.Max > 0 && h.Max < h.Slots {
			return nil, fmt.Errorf("host %s has %d slots, more than its max_slots, %d", h.Name, h.Slots, h.Max)
		}
	}
	return merged, nil
}

// maxSlots bounds the slots of a host, so that sums of them don't overflow.
const maxSlots = 1 << 20

// number reads a number of slots.
func number(text string) (int, error) {
	n := 0
	for _, c := range []byte(text) {
		if c < '0' || c > '9' || n > maxSlots {
			return 0, fmt.Errorf("%q slots: want a number from 1 to %d", text, maxSlots)
		}
		n = n*10 + int(c-'0')
	}
	if n < 1 || n > maxSlots {
		return 0, fmt.Errorf("%q slots: want a number from 1 to %d", text, maxSlots)
	}
	return n, nil
}

// entry reads one host, such as "h0", "user@h0:4", "10.0.0.1:4", "::1" or "[::1]:4".
func entry(word string) (h Host, err error) {
	rest := word
	if user, host, ok := strings.Cut(word, "@"); ok {
		if !plain(user) {
			return h, fmt.Errorf("%q: %q is no name of a user", word, user)
		}
		h.User, rest = user, host
	}
	slots := ""
	given := false
	switch _, err := netip.ParseAddr(rest); {
	case err == nil:
		h.Name = rest
	case strings.HasPrefix(rest, "["):
		address, behind, closed := strings.Cut(rest[1:], "]")
		if _, err := netip.ParseAddr(address); err != nil || !closed {
			return h, fmt.Errorf("%q: want an address of IPv6 in the brackets, as in [fe80::1]:4", word)
		}
		h.Name = address
		if slots, given = strings.CutPrefix(behind, ":"); !given && behind != "" {
			return h, fmt.Errorf("%q: after the brackets only :NUMBER may follow", word)
		}
	default:
		h.Name, slots, given = strings.Cut(rest, ":")
	}
	if err := checkName(h.Name); err != nil {
		return h, fmt.Errorf("%q: %w", word, err)
	}
	if given {
		if h.Slots, err = number(slots); err != nil {
			return h, fmt.Errorf("host %s with %w", h.Name, err)
		}
	}
	return h, nil
}

// checkName says what is wrong with the name of a host.
func checkName(name string) error {
	switch _, err := netip.ParseAddr(name); {
	case err == nil && plain("a"+strings.NewReplacer(":", "", "%", "").Replace(name)):
		return nil // also an address with the interface that it belongs to
	case name == "":
		return errors.New("the name of a host is empty")
	case strings.ContainsAny(name, "[]"):
		return errors.New("ranges of hosts aren't understood here: name each host")
	case !plain(name):
		return errors.New("this is no name of a host")
	}
	return nil
}

// plain says whether a name consists of letters, digits, dots, dashes and underscores, and doesn't
// begin with a dash.
func plain(name string) bool {
	for _, c := range []byte(name) {
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '.', c == '-', c == '_':
		default:
			return false
		}
	}
	return name != "" && name[0] != '-'
}
