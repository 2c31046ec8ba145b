package groupnode

import (
	"context"
	"flag"
	"maps"
	"net"
	"slices"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"banyan/internal/proto"
	"banyan/internal/proto/membership"
	"banyan/internal/runtime/handshake"
	"banyan/internal/runtime/wire"
	"banyan/internal/runtime/wire/views"
)

func TestMain(m *testing.M) {
	// The tests wait most of the time.
	flag.Set("test.parallel", "8")
	flag.Parse() // the command line's goes before it
	goleak.VerifyTestMain(m)
}

// viewLog is an observer that notes the views of a member.
type viewLog struct {
	noObserver
	mu    sync.Mutex
	views []*membership.View
	cards map[string]Card // by name, of the last view
	sent  map[membership.Kind]int
	more  chan struct{}
}

func newViewLog() *viewLog {
	return &viewLog{more: make(chan struct{}, 1), sent: map[membership.Kind]int{}}
}

func (d *viewLog) Installed(v *membership.View, card func(membership.Member) Card, _ bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.views = append(d.views, v)
	d.cards = map[string]Card{}
	for _, x := range v.Members {
		d.cards[card(x).Name] = card(x)
	}
	select {
	case d.more <- struct{}{}:
	default:
	}
}

func (d *viewLog) Sent(_ membership.Member, x *membership.Message) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.sent[x.Kind]++
}

func (d *viewLog) last() *membership.View {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.views) == 0 {
		return &membership.View{}
	}
	return d.views[len(d.views)-1]
}

// cardOf is the card of a member of the last view.
func (d *viewLog) cardOf(t *testing.T, name string) Card {
	t.Helper()
	d.mu.Lock()
	defer d.mu.Unlock()
	c, ok := d.cards[name]
	if !ok {
		t.Fatalf("%s isn't in the last view", name)
	}
	return c
}

// await waits for a view of a number of members.
func (d *viewLog) await(t *testing.T, members int) *membership.View {
	t.Helper()
	for limit := time.After(10 * time.Second); ; {
		if v := d.last(); len(v.Members) == members {
			return v
		}
		select {
		case <-d.more:
		case <-limit:
			t.Fatalf("the last view is %d, of %v", d.last().Number, d.last().Members)
		}
	}
}

func testConfig(name string, d *viewLog, seeds ...string) Config {
	return Config{Name: name, Secret: testSecret, Seeds: seeds, Period: 50 * time.Millisecond, Timeout: 5 * time.Second, Observer: d}
}

func testJoin(t *testing.T, cfg Config) *Member {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	m, err := Join(ctx, cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.Close)
	return m
}

// impostor dials a member with the group's secret, and claims to be another member.
func impostor(t *testing.T, to *Member, h *hello) (net.Conn, *answer) {
	t.Helper()
	conn, err := net.Dial("tcp", to.Card().Address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	conn.SetDeadline(time.Now().Add(5 * time.Second))
	a, err := dialHandshake(conn, testSecret, h)
	if err != nil {
		t.Fatal(err)
	}
	return conn, a
}

func frameOf(h wire.Header, payload []byte) []byte {
	h.Length = uint32(len(payload))
	b := make([]byte, wire.HeaderSize)
	wire.EncodeHeader(b, &h)
	return append(b, payload...)
}

// A process that knows the secret, and sends frames that no honest member sends, does no harm: no
// view changes and no member ends.
func TestForgedFrames(t *testing.T) {
	da, db := newViewLog(), newViewLog()
	a := testJoin(t, testConfig("a", da))
	b := testJoin(t, testConfig("b", db, a.Card().Address))
	before := da.await(t, 2)
	// x has a number that is still free, as if a later view had given it.
	x := membership.Member{Proc: 5, Incarnation: 9}
	card := Card{Nonce: newNonce(), Name: "x", Address: "127.0.0.1:9"}

	fake := func(members ...membership.Member) *membership.View {
		v, err := membership.NewView(before.Number+1, members, nil, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	enclose := func(m *membership.Message, cards ...entry) []byte {
		return frameOf(wire.Header{Kind: wire.KindMembership}, appendEnvelope(nil, views.Append(nil, m), cards))
	}
	commit := &membership.Message{Kind: membership.Commit, From: x, Number: before.Number + 1, View: fake(a.Number(), x, membership.Member{Proc: 9})}
	inName := *commit
	inName.From = b.Number()
	inName.View = fake(b.Number())
	for name, frame := range map[string][]byte{
		"no frame":             []byte("this isn't a frame, and it is longer than a header, which has 64 bytes"),
		"half a frame":         enclose(commit)[:wire.HeaderSize+3],
		"a kind of jobs":       frameOf(wire.Header{Kind: wire.KindGoodbye}, nil),
		"no envelope":          frameOf(wire.Header{Kind: wire.KindMembership}, []byte{255, 255, 255, 255}),
		"no message":           frameOf(wire.Header{Kind: wire.KindMembership}, appendEnvelope(nil, []byte("nonsense"), nil)),
		"nothing":              frameOf(wire.Header{Kind: wire.KindMembership}, nil),
		"a view without cards": enclose(commit),
		"in another's name":    enclose(&inName),
		"another's card":       enclose(commit, entry{a.Number(), card}),
		"a name twice":         enclose(commit, entry{x, card}, entry{membership.Member{Proc: 9}, Card{Nonce: newNonce(), Name: "a", Address: "127.0.0.1:7"}}),
		"a join by frame":      enclose(&membership.Message{Kind: membership.Join, From: x}),
		"news of one's death":  frameOf(wire.Header{Kind: wire.KindNews, Seq: 1, Aux: 4, Src: 5}, wire.AppendGone(nil, wire.Gone{Proc: a.Number().Proc, Incarnation: 9})),
	} {
		conn, v := impostor(t, a, &hello{purpose: toSend, to: a.Card().Nonce, founding: a.founding, member: x, card: card})
		if v.verdict != welcome {
			t.Fatalf("%s: %+v", name, v)
		}
		conn.Write(frame)
		conn.(*net.TCPConn).CloseWrite()
	}
	// All is as before: when a member joins, there is one view more.
	dc := newViewLog()
	testJoin(t, testConfig("c", dc, a.Card().Address))
	for _, d := range []*viewLog{da, db, dc} {
		if v := d.await(t, 3); v.Number != before.Number+1 {
			t.Errorf("view %d of %v", v.Number, v.Members)
		}
	}
	if a.Err() != nil || b.Err() != nil {
		t.Error(a.Err(), b.Err())
	}
}

// Strangers that connect and say nothing don't keep members out, however many there are.
func TestSilentStrangers(t *testing.T) {
	t.Parallel()
	da := newViewLog()
	a := testJoin(t, testConfig("a", da))
	for range 8 * handshake.MaxPending {
		conn, err := net.Dial("tcp", a.Card().Address)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { conn.Close() })
	}
	testJoin(t, testConfig("b", newViewLog(), a.Card().Address))
	da.await(t, 2)
}

// A dialler in the name of a member, or of one that is gone, or that calls another member, is
// refused.
func TestImpostors(t *testing.T) {
	da := newViewLog()
	a := testJoin(t, testConfig("a", da))
	b := testJoin(t, testConfig("b", newViewLog(), a.Card().Address))
	gone := testJoin(t, testConfig("gone", newViewLog(), a.Card().Address))
	da.await(t, 3)
	gone.Close()
	v := da.await(t, 2)
	nonce := a.Card().Nonce
	for name, tc := range map[string]struct {
		h    hello
		want verdict
	}{
		"another nonce":              {hello{purpose: toSend, to: newNonce(), member: b.Number(), card: b.Card()}, notHere},
		"another's number":           {hello{purpose: toSend, to: nonce, member: b.Number(), card: gone.Card()}, refused},
		"one's own number":           {hello{purpose: toSend, to: nonce, member: a.Number(), card: a.Card()}, refused},
		"a former member":            {hello{purpose: toSend, to: nonce, member: gone.Number(), card: gone.Card()}, eviction},
		"a former member's question": {hello{purpose: toAsk, to: nonce, member: gone.Number(), card: gone.Card()}, eviction},
		"a former incarnation":       {hello{purpose: toSend, to: nonce, member: membership.Member{Proc: gone.Number().Proc}, card: gone.Card()}, eviction},
		"a member asks":              {hello{purpose: toAsk, to: nonce, member: b.Number(), card: b.Card()}, welcome},
		"a live name":                {hello{purpose: toJoin, settings: a.cfg.settings(), card: Card{Nonce: newNonce(), Name: "b", Address: "127.0.0.1:9"}}, nameInUse},
		"an unreachable":             {hello{purpose: toJoin, settings: a.cfg.settings(), card: Card{Nonce: newNonce(), Name: "c", Address: "127.0.0.1:9"}}, later},
	} {
		tc.h.founding = a.founding
		if _, got := impostor(t, a, &tc.h); got.verdict != tc.want || tc.want == eviction && got.number != v.Number {
			t.Errorf("%s: %+v, want %d", name, got, tc.want)
		}
	}
	// The questions about b did it no harm.
	testJoin(t, testConfig("d", newViewLog(), b.Card().Address))
	if last := da.await(t, 3); last.Number != v.Number+1 {
		t.Errorf("view %d of %v", last.Number, last.Members)
	}
}

// The agreement of n live members on one death takes 2(n-1) messages, and the commit n-1.
func TestMessages(t *testing.T) {
	const n = 9
	a := newViewLog()
	first := testJoin(t, testConfig("a", a))
	diaries := []*viewLog{a}
	var last *Member
	for i := range n {
		d := newViewLog()
		last = testJoin(t, testConfig(string(rune('b'+i)), d, first.Card().Address))
		diaries = append(diaries, d)
	}
	for _, d := range diaries {
		d.await(t, n+1)
	}
	// A member has a view before it passes the view on, so messages of the joins may still be
	// under way: wait until none has been sent for a while.
	total := func(diaries []*viewLog) map[membership.Kind]int {
		sent := map[membership.Kind]int{}
		for _, d := range diaries {
			d.mu.Lock()
			for k, c := range d.sent {
				sent[k] += c
			}
			d.mu.Unlock()
		}
		return sent
	}
	for before := total(diaries); ; {
		time.Sleep(100 * time.Millisecond)
		now := total(diaries)
		if maps.Equal(before, now) {
			break
		}
		before = now
	}
	for _, d := range diaries {
		d.mu.Lock()
		clear(d.sent)
		d.mu.Unlock()
	}
	last.Close()
	for _, d := range diaries[:n] {
		d.await(t, n)
	}
	var sent map[membership.Kind]int
	for deadline := time.Now().Add(5 * time.Second); time.Now().Before(deadline) && sent[membership.Commit] < n-1; time.Sleep(time.Millisecond) {
		sent = total(diaries[:n])
	}
	for _, k := range []membership.Kind{membership.Propose, membership.Ack, membership.Commit} {
		if sent[k] != n-1 {
			t.Errorf("%d messages %v for one death among %d, want %d; all: %v", sent[k], k, n, n-1, sent)
		}
	}
}

// A joiner gets the lowest number that neither a member nor a reservation has.
func TestFreeNumber(t *testing.T) {
	members := []membership.Member{{Proc: 0, Incarnation: 1}, {Proc: 2, Incarnation: 4}}
	v, err := membership.NewView(7, members, nil, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	m := &Member{reserved: map[string]*reservation{"x": {member: membership.Member{Proc: 1}}}}
	if got, want := m.freeNumber(v), (membership.Member{Proc: 3, Incarnation: 8}); got != want {
		t.Errorf("%v, want %v", got, want)
	}
	if slices.ContainsFunc(v.Members, func(x membership.Member) bool { return x.Proc == proto.Proc(3) }) {
		t.Error("taken")
	}
}
