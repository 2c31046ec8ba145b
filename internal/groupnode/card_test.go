package groupnode

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"banyan/internal/proto"
	"banyan/internal/proto/membership"
	"banyan/internal/runtime/wire"
	"banyan/internal/runtime/wire/views"
)

func someEntries() []entry {
	return []entry{
		{membership.Member{Proc: 0, Incarnation: 1}, Card{Nonce: newNonce(), Name: "a", Address: "10.0.0.1:7946", Home: homeHere()}},
		{membership.Member{Proc: 7, Incarnation: 1 << 31}, Card{Nonce: newNonce(), Name: "héloïse", Address: "[fe80::1]:1"}},
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

// The largest message of the largest group is within the limit: a joiner gets two views with the
// longest names and addresses, and the later view has replaced every member of the earlier one.
func TestLargestGroup(t *testing.T) {
	var old, young []membership.Member
	m := &Member{cards: map[membership.Member]Card{}}
	for i := range maxMembers {
		a, b := membership.Member{Proc: proto.Proc(2 * i), Incarnation: 1}, membership.Member{Proc: proto.Proc(2*i + 1), Incarnation: 2}
		old, young = append(old, a), append(young, b)
		m.cards[a] = Card{newNonce(), strings.Repeat("x", maxName), strings.Repeat("y", maxAddress), home{1}, [16]byte{1}}
		m.cards[b] = m.cards[a]
	}
	base, err := membership.NewView(1, old, old, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	say := func(list []membership.Member) (said []membership.Metadata) {
		for _, x := range list {
			said = append(said, membership.Metadata{Member: x, Version: 1, Bytes: strings.Repeat("z", membership.MaxMetadata)})
		}
		return said
	}
	if err := base.SetMetadata(say(old), say(old)); err != nil {
		t.Fatal(err)
	}
	var gone []membership.Departure
	for _, x := range old {
		gone = append(gone, membership.Departure{Member: x})
	}
	next := base.Next(gone, young, say(young)...)
	x := &membership.Message{Kind: membership.Propose, Number: 2, Base: base, View: next, Skip: gone}
	if n := len(appendEnvelope(nil, views.Append(nil, x), m.cardsFor(young[0], x))); n > maxMessage {
		t.Errorf("%d bytes, the limit is %d", n, maxMessage)
	}
}

// Bytes that are taken for an envelope are one that an honest member could have sent.
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
	f.Add(someHello().encode())
	f.Add((&hello{purpose: toSend, to: newNonce(), member: someEntries()[1].member, card: someEntries()[1].card}).encode())
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

// A stream of any bytes gives only frames of kinds that members
// send each other.
func FuzzFrames(f *testing.F) {
	beat := frameOf(wire.Header{Kind: wire.KindHeartbeat, Seq: 3, Aux: 1}, nil)
	f.Add(append(beat, frameOf(wire.Header{Kind: wire.KindMembership}, appendEnvelope(nil, []byte("message"), someEntries()))...))
	f.Add(frameOf(wire.Header{Kind: wire.KindGoodbye}, nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		read := 0
		var whole assembler
		err := whole.feed(b, func(h wire.Header, payload []byte) {
			if read += wire.HeaderSize + len(payload); !expected(h.Kind) || len(payload) != int(h.Length) || h.Check() != nil {
				t.Errorf("%v of %d bytes, with %d", h.Kind, h.Length, len(payload))
			}
		})
		if read > len(b) || err == nil && read+len(whole.rest) != len(b) {
			t.Errorf("%d of %d bytes, %d are kept, then %v", read, len(b), len(whole.rest), err)
		}
		// It makes no difference in which parts they come.
		var parts assembler
		again := 0
		for i := 0; i < len(b); i += 7 {
			if parts.feed(b[i:min(i+7, len(b))], func(_ wire.Header, payload []byte) { again += wire.HeaderSize + len(payload) }) != nil {
				break
			}
		}
		if again != read || err == nil && len(parts.rest) != len(whole.rest) {
			t.Errorf("in parts %d bytes in place of %d, %d are kept in place of %d", again, read, len(parts.rest), len(whole.rest))
		}
	})
}
