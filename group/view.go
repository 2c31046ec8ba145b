package group

import (
	"encoding/hex"
	"fmt"

	"banyan/internal/groupnode"
	"banyan/internal/proto/membership"
)

// Identity names one incarnation of a member.
type Identity struct {
	// Name is the member's own choice, and the same after a restart.
	Name string
	// Incarnation rises each time a process joins under the name.
	Incarnation uint32
	// Address is where the other members reach it.
	Address string
}

func (i Identity) String() string { return fmt.Sprintf("%s.%d", i.Name, i.Incarnation) }

// Cause says how a death became known.
type Cause uint8

const (
	// Silent: no heartbeat of the member came for too long, or it couldn't be reached. It may
	// live; the others tell it that it is excluded as soon as they can.
	Silent Cause = iota
	// Ended: another member saw it end.
	Ended
)

func (c Cause) String() string {
	if c == Ended {
		return "ended"
	}
	return "silent"
}

// MarshalText is the word that String returns, so JSON has words, too.
func (c Cause) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// UnmarshalText is the inverse of MarshalText.
func (c *Cause) UnmarshalText(text []byte) error {
	for _, x := range []Cause{Silent, Ended} {
		if x.String() == string(text) {
			*c = x
			return nil
		}
	}
	return fmt.Errorf("cause %.20q: want silent or ended", text)
}

// Death is the end of a member that hadn't asked to leave.
type Death struct {
	Identity
	Cause Cause
}

func (d Death) String() string { return fmt.Sprintf("%v (%v)", d.Identity, d.Cause) }

// Founding names one founding of a group: 128 random bits. All that is said of views holds within
// a founding. After a new one, numbers of views and incarnations begin at 1 again.
type Founding [16]byte

func (f Founding) String() string { return hex.EncodeToString(f[:]) }

// MarshalText is the hexadecimal form, which String returns.
func (f Founding) MarshalText() ([]byte, error) { return []byte(f.String()), nil }

// UnmarshalText is the inverse of MarshalText.
func (f *Founding) UnmarshalText(text []byte) error {
	var got Founding
	if len(text) != 2*len(got) {
		return fmt.Errorf("founding %.40q: want %d hexadecimal digits", text, 2*len(got))
	}
	if _, err := hex.Decode(got[:], text); err != nil {
		return fmt.Errorf("founding %.40q: %w", text, err)
	}
	*f = got
	return nil
}

// View names the members of the group. It is the same for all members that have a view of this
// number, of one founding. The slices must not be changed.
type View struct {
	// Group is the group's name, and Founding the founding of it that the view belongs to.
	Group    string `json:",omitempty"`
	Founding Founding
	// Number rises by one with each view of a founding. The first view has number 1.
	Number uint64
	// Token is a fencing token: it rises with each view, and also from one founding to the next,
	// as far as Config.Epochs says. A resource that has seen a token refuses lower ones, whichever
	// process comes with them.
	Token uint64
	// Members are in the order in which they joined.
	Members []Identity
	// Joined, Left and Died are the changes from the view before.
	Joined, Left []Identity
	Died         []Death
	// Metadata is what members say of themselves, in their order; those that say nothing aren't in
	// it. Changed are the members whose metadata aren't as in the view before: also those that
	// have joined with some.
	Metadata []Metadata `json:",omitempty"`
	Changed  []Identity `json:",omitempty"`
}

// Metadata is what a member says of itself: a role, a port, a version, whether it is being drained.
type Metadata struct {
	Identity
	// Version rises with each change.
	Version uint32
	Text    string
}

func (m Metadata) String() string { return fmt.Sprintf("%v: %s", m.Identity, m.Text) }

// MetadataOf is what the member of a name says of itself, "" if it says nothing.
func (v *View) MetadataOf(name string) string {
	for i := range v.Metadata {
		if v.Metadata[i].Name == name {
			return v.Metadata[i].Text
		}
	}
	return ""
}

// Position is the index in Members of a name, -1 if it isn't there.
func (v *View) Position(name string) int {
	for i := range v.Members {
		if v.Members[i].Name == name {
			return i
		}
	}
	return -1
}

// viewOf is a view as the program sees it.
func viewOf(group string, f groupnode.Founding, v *membership.View, card func(membership.Member) groupnode.Card) View {
	identity := func(x membership.Member) Identity {
		c := card(x)
		return Identity{Name: c.Name, Incarnation: uint32(x.Incarnation), Address: c.Address}
	}
	w := View{Group: group, Founding: Founding(f.ID), Number: v.Number, Token: f.Token(v.Number), Members: make([]Identity, len(v.Members))}
	for i, x := range v.Members {
		w.Members[i] = identity(x)
	}
	if len(v.Metadata) > 0 {
		for i, x := range v.Members {
			if d := v.MetadataOf(x); d.Version > 0 && d.Bytes != "" {
				w.Metadata = append(w.Metadata, Metadata{w.Members[i], d.Version, d.Bytes})
			}
		}
	}
	for _, d := range v.Updated {
		w.Changed = append(w.Changed, identity(d.Member))
	}
	for _, x := range v.Joined {
		w.Joined = append(w.Joined, identity(x))
	}
	for _, d := range v.Gone {
		switch who := identity(d.Member); d.Why {
		case membership.Left:
			w.Left = append(w.Left, who)
		case membership.Died:
			w.Died = append(w.Died, Death{who, Ended})
		default:
			w.Died = append(w.Died, Death{who, Silent})
		}
	}
	return w
}
