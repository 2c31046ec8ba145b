package membership

import (
	"strings"
	"testing"

	"banyan/internal/proto"
)

func TestQuorum(t *testing.T) {
	departures := func(s string) (gone []Departure) {
		for i, c := range s {
			if why := strings.IndexRune("?+-", c); why >= 0 {
				gone = append(gone, Departure{Member{Proc: proto.Proc(i)}, Why(why)})
			}
		}
		return gone
	}
	// A letter for each member: . is present, ? silent, + died, - left.
	for s, want := range map[string]bool{
		".": true, ".?": true, "?.": false, "+.": true, "-.": true,
		"..?": true, ".??": false, "?..": true, "++.": true, "+?.": false,
		"..??": true, "??..": false, "?.?.": false, ".?.?": true, "+..?": false, ".+.?": true,
		"...??": true, "??...": true, ".++??": false, "++...": true, "+-.?.": false,
	} {
		if got := FirstView(len(s)).Quorum(departures(s)); got != want {
			t.Errorf("%s: %v", s, got)
		}
	}
}

// TestQuorumsMeet: two sides that can't hear each other never both decide.
func TestQuorumsMeet(t *testing.T) {
	for n := 1; n <= 12; n++ {
		v := FirstView(n)
		for side := range uint(1) << n {
			var here, there []Departure
			for p := range n {
				d := Departure{v.Members[p], Silent}
				if side>>p&1 == 0 {
					here = append(here, d)
				} else {
					there = append(there, d)
				}
			}
			if v.Quorum(here) == v.Quorum(there) {
				t.Fatalf("n = %d, side %b: both %v", n, side, v.Quorum(here))
			}
		}
	}
}

func TestNext(t *testing.T) {
	v := FirstView(4).Next([]Departure{{Member{1, 0}, Died}}, []Member{{7, 2}})
	if got, want := show(v), "view 2 [0.0 2.0 3.0 7.2] +[7.2] -[1.0] past [1.0]"; got != want {
		t.Fatalf("%s, want %s", got, want)
	}
	for m, want := range map[Member]int{{0, 0}: 0, {3, 0}: 2, {7, 2}: 3, {7, 1}: -1, {1, 0}: -1, {99, 0}: -1} {
		if got := v.Position(m); got != want {
			t.Errorf("%v is at %d, want %d", m, got, want)
		}
	}
	// A process that comes back is the youngest, and its earlier incarnation is excluded.
	w := v.Next(nil, []Member{{1, 1}})
	if got, want := show(w), "view 3 [0.0 2.0 3.0 7.2 1.1] +[1.1] -[] past []"; got != want {
		t.Fatalf("%s, want %s", got, want)
	}
	for m, want := range map[Member]bool{{1, 0}: true, {1, 1}: false, {1, 2}: false, {7, 1}: true, {50, 0}: false} {
		if got := w.Excludes(m); got != want {
			t.Errorf("excludes %v: %v", m, got)
		}
	}
}

func TestNewViewRefuses(t *testing.T) {
	a, b := Member{0, 0}, Member{1, 0}
	for _, x := range []struct {
		number                uint64
		members, joined, past []Member
		gone                  []Departure
		want                  string
	}{
		{0, []Member{a}, nil, nil, nil, "numbered 0"},
		{1, nil, nil, nil, nil, "no members"},
		{2, []Member{a, {0, 1}}, nil, nil, nil, "a member twice"},
		{2, []Member{{-1, 0}}, nil, nil, nil, "want a process"},
		{2, []Member{a}, nil, []Member{a}, nil, "a member, and past"},
		{2, []Member{a}, nil, []Member{{2, 0}, {1, 0}}, nil, "in order"},
		{2, []Member{a, b}, []Member{a}, nil, nil, "youngest"},
		{2, []Member{a}, []Member{b, a}, nil, nil, "youngest"},
		{2, []Member{a}, nil, nil, []Departure{{a, Died}}, "a member, and gone"},
	} {
		_, err := NewView(x.number, x.members, x.joined, x.gone, x.past)
		if err == nil || !strings.Contains(err.Error(), x.want) {
			t.Errorf("%+v: %v, want %q", x, err, x.want)
		}
	}
	v := FirstView(5).Next([]Departure{{Member{2, 0}, Left}}, []Member{{9, 9}})
	same, err := NewView(v.Number, v.Members, v.Joined, v.Gone, v.Past)
	if err != nil || show(same) != show(v) {
		t.Errorf("%v: %v", same, err)
	}
}
