package mesh

import (
	"os"
	"strings"
	"testing"
)

func TestCardRoundTrip(t *testing.T) {
	for _, c := range []Card{
		{Host: "node7/3fa0c2d1e4b5a697", Addr: "127.0.0.1:40123", Pid: 12345, Start: 987654, Incarnation: 3},
		{Host: "h", Addr: "[::1]:1", Pid: 1, Local: "3fa0c2d1e4b5a697/0123456789abcdef"},
		{Host: strings.Repeat("h", 40) + "/3fa0c2d1e4b5a697", Addr: "[fe80:1234:1234:1234:1234:1234:1234:1234%enp12345]:65535", Pid: 1 << 22, Start: 1<<32 - 1, Incarnation: 1<<32 - 1,
			Local: "3fa0c2d1e4b5a697/0123456789abcdef"},
	} {
		s := c.String()
		if len(s) > MaxCard || !printable(s) {
			t.Errorf("%q has %d bytes, or others than PMI takes", s, len(s))
		}
		if got, err := ParseCard(s); err != nil || got != c {
			t.Errorf("%q is read as %+v, %v", s, got, err)
		}
	}
}

func TestParseCardRefuses(t *testing.T) {
	const good = "2,node/12,127.0.0.1:80,5,6,7,"
	if _, err := ParseCard(good); err != nil {
		t.Fatal(err)
	}
	for _, s := range []string{
		"", "2", good + ",8", "1" + good[1:], good + "1", good + "1/", good + "/1", good + "1/" + strings.Repeat("7", maxLocal), "2,,127.0.0.1:80,5,6,7,", "2,node/12,127.0.0.1,5,6,7,", "2,node/12,127.0.0.1:0,5,6,7,",
		"2,node/12,:80,5,6,7,", "2,node/12,127.0.0.1:99999,5,6,7,", "2,node/12,127.0.0.1:80,0,6,7,", "2,node/12,127.0.0.1:80,-5,6,7,",
		"2,node/12,127.0.0.1:80,+5,6,7,", "2,node/12,127.0.0.1:80,5,6,07,", "2,node/12,127.0.0.1:http,5,6,7,", "2,no de/12,127.0.0.1:80,5,6,7,",
		"2,no=de/12,127.0.0.1:80,5,6,7,", "2,nöde/12,127.0.0.1:80,5,6,7,", good + strings.Repeat("7", MaxCard),
	} {
		if c, err := ParseCard(s); err == nil {
			t.Errorf("%q is read as %+v", s, c)
		}
	}
}

func TestOwnHostAndStart(t *testing.T) {
	a, err := hostID()
	if err != nil {
		t.Fatal(err)
	}
	if b, err := hostID(); err != nil || a != b || !printable(a) || strings.Contains(a, ",") {
		t.Errorf("this host is %q and %q, %v", a, b, err)
	}
	if start, err := startTime(os.Getpid()); err != nil || start == 0 {
		t.Errorf("this process started at %d, %v", start, err)
	}
	if got := plainName("a b,c=ü.example"); got != "a_b_c__.example" {
		t.Errorf("got %q", got)
	}
}

func FuzzParseCard(f *testing.F) {
	f.Add("2,node/12,127.0.0.1:80,5,6,7,")
	f.Add("2,h/1,[::1]:80,5,6,7")
	f.Fuzz(func(t *testing.T, s string) {
		c, err := ParseCard(s)
		if err != nil {
			return
		}
		if c.String() != s || len(s) > MaxCard || !printable(s) {
			t.Fatalf("%q is read as %+v", s, c)
		}
	})
}
