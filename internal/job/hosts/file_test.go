package hosts

import (
	"reflect"
	"strings"
	"testing"
)

func TestParseFile(t *testing.T) {
	for text, want := range map[string]List{
		"# mine\nh0 slots=4 max_slots=8\n\nh1 slots = 2 max-slots= 3 # here\n": {{Name: "h0", Slots: 4, Max: 8}, {Name: "h1", Slots: 2, Max: 3}},
		"h0:4\nh1:2\n":                           {{Name: "h0", Slots: 4}, {Name: "h1", Slots: 2}},
		"h0\nh1":                                 {{Name: "h0"}, {Name: "h1"}},
		"h0\r\nh1\r\n":                           {{Name: "h0"}, {Name: "h1"}},
		"h0\nh0\nh1\n":                           {{Name: "h0", Slots: 2}, {Name: "h1", Slots: 1}},
		"h0 // one\n/* two\nh9\n*/ h1 slots=2\n": {{Name: "h0", Slots: 1}, {Name: "h1", Slots: 2}},
		"h0 rack=r1 zone=z user=me\n":            {{Name: "h0", Rack: "r1", Zone: "z", User: "me"}},
		"[::1]:2 rack=r\n":                       {{Name: "::1", Slots: 2, Rack: "r"}},
		// As the MPI Operator writes it for Open MPI, and for MPICH and Intel MPI.
		"pi-worker-0.pi.default.svc slots=1\npi-worker-1.pi.default.svc slots=1\n": {{Name: "pi-worker-0.pi.default.svc", Slots: 1}, {Name: "pi-worker-1.pi.default.svc", Slots: 1}},
		"pi-worker-0.pi.default.svc:2\n":                                           {{Name: "pi-worker-0.pi.default.svc", Slots: 2}},
	} {
		if got, err := ParseFile("hosts", strings.NewReader(text)); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%q: %+v, %v", text, got, err)
		}
	}
	for text, want := range map[string]string{
		"":                                  "hosts names no hosts",
		"# h0\n":                            "hosts names no hosts",
		"h0\n\nh1 slots=many\n":             "hosts:3: host h1 with \"many\" slots",
		"h0 slots=1 slots=2":                "hosts:1: host h0 has its slots twice",
		"h0:2 slots=2":                      "hosts:1: host h0 has its slots twice",
		"h0 slots=4 max_slots=2":            "more than its max_slots",
		"h0 ifname=eth0":                    "\"ifname=eth0\" means nothing here",
		"h0 h1":                             "\"h1\" means nothing here",
		"h0 rack=a;b":                       "want a name",
		"h0 rack=":                          "want a name",
		"h0 rack=a\nh0 rack=b":              "two names of its rack, a and b",
		"h0\n/* h1":                         "hosts:2: a comment isn't closed",
		"h0\n" + strings.Repeat("x", 2<<20): "hosts:2:",
	} {
		if got, err := ParseFile("hosts", strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.30q: %+v, %v", text, got, err)
		}
	}
}

func FuzzParseFile(f *testing.F) {
	for _, s := range []string{"h0 slots = 4 max_slots=8 # x\nh1:2\n", "h0 /* x\n */ rack=r", "[::1]:2 // x", "u@h0\nh0 zone=z user=u"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		list, err := ParseFile("hosts", strings.NewReader(text))
		if err == nil {
			checkList(t, list)
		}
	})
}
