package gathering

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"banyan/internal/proto/membership"
)

func someEntries() []entry {
	return []entry{
		{membership.Member{Proc: 0, Incarnation: 1}, Card{Life: newLife(), Name: "a", Address: "10.0.0.1:7946"}},
		{membership.Member{Proc: 7, Incarnation: 1 << 31}, Card{Life: newLife(), Name: "héloïse", Address: "[fe80::1]:1"}},
	}
}

func TestEnvelope(t *testing.T) {
	want := someEntries()
	for n := range len(want) + 1 {
		b := appendEnvelope(nil, []byte("message"), want[:n])
		message, got, err := openEnvelope(b)
		if err != nil || string(message) != "message" || !slices.Equal(got, want[:n]) {
			t.Errorf("%q, %v, %v", message, got, err)
		}
		for cut := range len(b) {
			if _, got, err := openEnvelope(b[:cut]); err == nil && len(got) == n {
				t.Errorf("%d of %d bytes are an envelope, too", cut, len(b))
			}
		}
	}
}

func TestBadNamesAndAddresses(t *testing.T) {
	for _, name := range []string{"", strings.Repeat("x", maxName+1), "a\x00", "a\nb", "\xff"} {
		if checkName(name) == nil {
			t.Errorf("name %q passes", name)
		}
	}
	for _, address := range []string{"", "host", "host:0", "host:65536", ":7", "0.0.0.0:7", "[::]:7", "host:http", strings.Repeat("x", 255) + ":7"} {
		if checkAddress(address) == nil {
			t.Errorf("address %q passes", address)
		}
	}
	if err := checkAddress("host.example:7946"); err != nil {
		t.Error(err)
	}
}

// Whatever comes, what is taken for an envelope is one that an honest member could have sent.
func FuzzEnvelope(f *testing.F) {
	f.Add(appendEnvelope(nil, []byte("message"), someEntries()))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		message, cards, err := openEnvelope(b)
		if err != nil {
			return
		}
		for i := range cards {
			if err := cards[i].card.check(); err != nil {
				t.Error(err)
			}
		}
		if !bytes.Equal(appendEnvelope(nil, message, cards), b) {
			t.Error("not in the form in which it is sent")
		}
	})
}

func FuzzHello(f *testing.F) {
	f.Add((&hello{purpose: toSend, to: newLife(), member: someEntries()[1].member, card: someEntries()[1].card}).encode())
	f.Fuzz(func(t *testing.T, b []byte) {
		h, err := decodeHello(b)
		if err == nil && !bytes.Equal(h.encode(), b) {
			t.Error("not in the form in which it is sent")
		}
	})
}

func FuzzAnswer(f *testing.F) {
	f.Add((&answer{verdict: refused, number: 7, text: "no"}).encode())
	f.Fuzz(func(t *testing.T, b []byte) {
		a, err := decodeAnswer(b)
		if err == nil && len(b) < maxBody-16 && !bytes.Equal(a.encode(), b) {
			t.Error("not in the form in which it is sent")
		}
	})
}
