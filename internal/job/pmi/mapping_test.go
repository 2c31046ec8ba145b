package pmi

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

func TestParseMapping(t *testing.T) {
	for s, want := range map[string][]int32{
		"(vector,(0,1,5))":                 {0, 0, 0, 0, 0},
		"(vector,(0,2,1))":                 {0, 1, 0, 1, 0}, // repeated
		"(vector,(0,2,2),(2,1,1))":         {0, 0, 1, 1, 2},
		"(vector,(7,1,1),(3,2,1),(7,1,9))": {7, 3, 4, 7, 7},
		"(vector,(0,3,100))":               {0, 0, 0, 0, 0},
	} {
		if got, err := parseMapping(s, 5); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: got %v, %v, want %v", s, got, err, want)
		}
	}
	for _, s := range []string{
		"", "vector", "(vector", "(vector)", "(vector,)", "(vector,(0,1))", "(vector,(0,1,1),)", "(vector(0,1,1))",
		"(vector,(0,0,1))", "(vector,(0,1,0))", "(vector,(-1,1,1))", "(vector,(0,1,1)", "(vector,(0,1,99999999999))",
	} {
		if got, err := parseMapping(s, 5); err == nil {
			t.Errorf("%q gave %v", s, got)
		}
	}
}

func TestMappingFromServer(t *testing.T) {
	for _, hosts := range [][]int32{nil, {0, 0, 0}, {0, 1, 2}, {2, 2, 0}, {0, 1, 0}} {
		s := NewServer(3, "job", nil)
		want := hosts
		if hosts != nil {
			s.SetHosts(hosts)
		} else {
			want = []int32{0, 0, 0} // one host, unless SetHosts says something else
		}
		got, err := askHosts(dial(t, s, 0, 3))
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%v: got %v, %v", hosts, got, err)
		}
	}
	// The server doesn't tell a mapping that is too long.
	s := NewServer(2000, "job", nil)
	hosts := make([]int32, 2000)
	for i := range hosts {
		hosts[i] = int32(i % 3)
	}
	s.SetHosts(hosts)
	if got, err := askHosts(dial(t, s, 0, 2000)); got != nil || err != nil {
		t.Errorf("got %d hosts, %v", len(got), err)
	}
}

func askHosts(c *Client) (hosts []int32, err error) {
	var unclear error
	ask := c.Batch()
	ask.Hosts(&hosts, &unclear)
	err = ask.Ask()
	return hosts, errors.Join(err, unclear)
}

func FuzzMapping(f *testing.F) {
	f.Add("(vector,(0,2,2),(2,1,1))")
	f.Fuzz(func(t *testing.T, s string) {
		hosts, err := parseMapping(s, 9)
		if err != nil {
			return
		}
		again, err := parseMapping(formatMapping(hosts), 9)
		if err != nil || !slices.Equal(again, hosts) || !strings.HasPrefix(s, "(vector") {
			t.Errorf("%q: %v became %v, %v", s, hosts, again, err)
		}
	})
}
