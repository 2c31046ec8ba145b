package hosts

import (
	"reflect"
	"strings"
	"testing"
)

func TestParseList(t *testing.T) {
	for text, want := range map[string]List{
		"a":                 {{Name: "a"}},
		"a, b":              {{Name: "a"}, {Name: "b"}},
		"a:8,b:8":           {{Name: "a", Slots: 8}, {Name: "b", Slots: 8}},
		"a:8,b":             {{Name: "a", Slots: 8}, {Name: "b", Slots: 1}},
		"a,b,a":             {{Name: "a", Slots: 2}, {Name: "b", Slots: 1}},
		"a:2,b,a:3":         {{Name: "a", Slots: 5}, {Name: "b", Slots: 1}},
		"me@a.site:2":       {{Name: "a.site", User: "me", Slots: 2}},
		"me@a,a":            {{Name: "a", User: "me", Slots: 2}},
		"::1,10.0.0.1:2":    {{Name: "::1", Slots: 1}, {Name: "10.0.0.1", Slots: 2}},
		"[::1]:2,[fe80::1]": {{Name: "::1", Slots: 2}, {Name: "fe80::1", Slots: 1}},
		"fe80::1%eth0":      {{Name: "fe80::1%eth0"}},
	} {
		if got, err := ParseList(text); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%q: %+v, %v", text, got, err)
		}
	}
	for text, want := range map[string]string{
		"": "empty name", "a,": "empty name", ":4": "empty", "a:0": "from 1", "a:x": "from 1", "a:": "from 1", "a:-1": "from 1", "a:99999999999999999999": "from 1",
		"-oProxyCommand=x": "no name of a host", "a;b": "no name", "$(a)": "no name", "-l@a": "no name of a user", "me@": "empty",
		"[::1": "IPv6", "[a]:2": "IPv6", "[::1]2": "only :NUMBER", "node[1-3]": "ranges", "fe80::1%$(x)": "no name", "^a": "no name", "x@a,y@a": "two names of its user",
	} {
		if got, err := ParseList(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %+v, %v", text, got, err)
		}
	}
}

func FuzzParseList(f *testing.F) {
	for _, s := range []string{"a:8,b", "[::1]:2", "u@a,a", "a,,", "fe80::1%eth0"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		list, err := ParseList(text)
		if err == nil {
			checkList(t, list)
		}
	})
}

// checkList checks the invariants of every list.
func checkList(t *testing.T, list List) {
	if len(list) == 0 {
		t.Fatal("an empty list")
	}
	seen := make(map[string]bool)
	for _, h := range list {
		switch {
		case seen[h.Name]:
			t.Fatalf("%s twice", h.Name)
		case h.Name == "" || h.Name[0] == '-' || strings.ContainsAny(h.Name, " \t\n'\"$`;&|<>()\\*?"):
			t.Fatalf("the name %q", h.Name)
		case h.User != "" && (h.User[0] == '-' || strings.ContainsAny(h.User, " \t\n'\"$`;&|<>()\\*?")):
			t.Fatalf("the user %q", h.User)
		case h.Slots < 0, (h.Slots > 0) != (list[0].Slots > 0), h.Max > 0 && h.Max < h.Slots:
			t.Fatalf("%+v in %+v", h, list)
		}
		seen[h.Name] = true
	}
}
