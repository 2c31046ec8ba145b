package groupnode

import (
	"encoding/binary"
	"fmt"
	"io"
	"time"

	"banyan/internal/proto/founding"
	"banyan/internal/proto/membership"
	"banyan/internal/runtime/handshake"
	"banyan/internal/runtime/seal"
)

// protocol is the group's handshake (package handshake): the dialler says a hello, and the
// acceptor an answer, both of this file.
var protocol = &handshake.Protocol{
	Name:  "banyan group",
	Magic: [8]byte{'B', 'A', 'N', 'Y', 'A', 'N', '\r', 'G'},
	Min:   6, Max: 6,
	Framing: handshake.Framing{Hello: maxBody, Answer: maxAnswer, Variable: true},
}

const (
	// maxBody and maxAnswer are how many bytes a hello and an answer have at most.
	maxBody   = 1536
	maxAnswer = 4096
	maxText   = 512
	// maxPeers is how many addresses an answer has at most.
	maxPeers = 12
)

// purpose is what a dialler wants.
type purpose uint8

const (
	toSend purpose = 1 + iota // frames, until one of the two ends
	toAsk                     // whether the member with the nonce that is called lives here
	toJoin                    // be let in
	toMeet                    // which founding it is in, or what it says as a candidate
	purposeEnd
)

// verdict is the acceptor's answer.
type verdict uint8

const (
	welcome    verdict = 1 + iota
	redirect           // ask the member at answer.text to be let in
	later              // there is no answer yet: ask again
	refused            // answer.text says why
	nameInUse          // refused: a member of this name lives, at answer.text
	notHere            // the acceptor has another nonce than the one called
	eviction           // the dialler is excluded, by view answer.number
	looksToo           // the acceptor is no member: it looks for the group, too
	isMember           // the acceptor is a member of answer.founding, in view answer.number
	itself             // the dialler has dialled itself
	otherGroup         // refused: the acceptor is of a group of another name; answer.text says so
	verdictEnd
)

// hello is what a dialler says.
type hello struct {
	purpose  purpose
	to       Nonce    // the member's that is called; zero for toJoin, when only an address is known
	group    string   // its name
	founding Founding // the dialler's; zero if it is no member
	settings settings
	member   membership.Member
	card     Card                // the dialler's
	state    *founding.Candidate // nil: it is no candidate
	metadata string              // of one that asks to be let in
}

// settings are what all members' Configs must have in common.
type settings struct {
	arity           uint32
	period, timeout time.Duration
	encrypt         bool
}

func (c *Config) settings() settings {
	return settings{uint32(c.Arity), c.Period, c.Timeout, c.Encrypt}
}

func (t settings) String() string {
	return fmt.Sprintf("Arity %d, HeartbeatPeriod %v, HeartbeatTimeout %v, Encrypt %v", t.arity, t.period, t.timeout, t.encrypt)
}

// sealed says whether what follows the handshake is sealed: the frames of members that encrypt.
func (h *hello) sealed() bool { return h.purpose == toSend && h.settings.encrypt }

// answer is what the acceptor says.
type answer struct {
	verdict verdict
	number  uint64
	text    string
	// What follows is of an acceptor that a process asks which looks for its group.
	founding Founding
	node     founding.ID
	state    *founding.Candidate // nil: it is no candidate
	peers    []string            // addresses of other candidates
}

func (h *hello) encode() []byte {
	b := append([]byte{byte(h.purpose)}, h.to[:]...)
	b = append(append(b, byte(len(h.group))), h.group...)
	b = binary.LittleEndian.AppendUint64(append(b, h.founding.ID[:]...), h.founding.Base)
	b = binary.LittleEndian.AppendUint32(b, h.settings.arity)
	b = binary.LittleEndian.AppendUint64(b, uint64(h.settings.period))
	b = binary.LittleEndian.AppendUint64(b, uint64(h.settings.timeout))
	b = append(b, map[bool]byte{true: 1}[h.settings.encrypt])
	b = appendState(appendCard(appendMember(b, h.member), h.card), h.state)
	return append(binary.LittleEndian.AppendUint16(b, uint16(len(h.metadata))), h.metadata...)
}

func decodeHello(b []byte) (*hello, error) {
	d := decoder{rest: b}
	h := &hello{purpose: purpose(d.uint8()), to: d.nonce()}
	h.group = string(d.bytes(int(d.uint8())))
	h.founding = Founding{ID: d.nonce(), Base: d.uint64()}
	h.settings = settings{d.uint32(), time.Duration(d.uint64()), time.Duration(d.uint64()), false}
	encrypt := d.uint8()
	h.settings.encrypt = encrypt == 1
	h.member, h.card = d.member(), d.card()
	h.state = d.state(h.card.Name)
	h.metadata = string(d.bytes(int(d.uint16())))
	switch {
	case d.err != nil || len(d.rest) > 0 || encrypt > 1:
		return nil, fmt.Errorf("hello: %w", errMalformed)
	case h.purpose == 0 || h.purpose >= purposeEnd:
		return nil, fmt.Errorf("hello: unknown purpose %d", uint8(h.purpose))
	case h.member.Proc < 0:
		return nil, fmt.Errorf("hello: from %v", h.member)
	case len(h.metadata) > membership.MaxMetadata:
		return nil, fmt.Errorf("hello: %d bytes of metadata", len(h.metadata))
	}
	if h.group != "" {
		if err := checkName(h.group); err != nil {
			return nil, fmt.Errorf("hello: group: %w", err)
		}
	}
	if err := h.card.check(); err != nil {
		return nil, fmt.Errorf("hello: %w", err)
	}
	return h, nil
}

func (a *answer) encode() []byte {
	text := a.text[:min(len(a.text), maxText)]
	b := binary.LittleEndian.AppendUint64([]byte{byte(a.verdict)}, a.number)
	b = binary.LittleEndian.AppendUint64(append(b, a.founding.ID[:]...), a.founding.Base)
	b = appendState(append(b, a.node[:]...), a.state)
	if a.state != nil {
		b = append(append(b, byte(len(a.state.Name))), a.state.Name...)
	}
	b = append(b, byte(len(a.peers)))
	for _, p := range a.peers {
		b = append(append(b, byte(len(p))), p...)
	}
	return append(b, text...)
}

func decodeAnswer(b []byte) (*answer, error) {
	d := decoder{rest: b}
	a := &answer{verdict: verdict(d.uint8()), number: d.uint64()}
	a.founding = Founding{ID: d.nonce(), Base: d.uint64()}
	a.node = founding.ID(d.nonce())
	if a.state = d.state(""); a.state != nil {
		if a.state.Name = string(d.bytes(int(d.uint8()))); d.err == nil {
			d.err = checkName(a.state.Name)
		}
	}
	for n := int(d.uint8()); n > 0 && d.err == nil; n-- {
		p := string(d.bytes(int(d.uint8())))
		if d.err == nil {
			d.err = checkAddress(p)
		}
		a.peers = append(a.peers, p)
	}
	a.text = string(d.rest)
	if d.err != nil || len(a.text) > maxText || len(a.peers) > maxPeers || a.verdict == 0 || a.verdict >= verdictEnd {
		return nil, fmt.Errorf("answer: %w", errMalformed)
	}
	return a, nil
}

// dialHandshake runs the dialler's side.
func dialHandshake(conn io.ReadWriter, secret []byte, h *hello) (*answer, error) {
	b, err := protocol.Dial(conn, secret, h.encode())
	if err != nil {
		return nil, err
	}
	return decodeAnswer(b)
}

// acceptHandshake runs the acceptor's side. It asks judge for the answer once the dialler has
// proved that it knows the secret. An error after judge was called comes with what the dialler
// said. The keys are nil if what follows isn't sealed. Diallers may know one of other secrets.
func acceptHandshake(conn io.ReadWriter, secret []byte, others [][]byte, judge func(*hello) (answer, error)) (h *hello, a answer, keys *seal.Keys, err error) {
	keys, err = protocol.AcceptSealed(conn, secret, handshake.Judge{
		Others: others,
		Sealed: func(b []byte) bool {
			h, err := decodeHello(b)
			return err == nil && h.sealed()
		},
		Answer: func(b []byte) ([]byte, error) {
			if h, err = decodeHello(b); err != nil {
				return nil, err
			}
			if a, err = judge(h); err != nil {
				return nil, err
			}
			return a.encode(), nil
		},
	})
	return h, a, keys, err
}

// appendState appends what a candidate says of itself, but for its name.
func appendState(b []byte, c *founding.Candidate) []byte {
	if c == nil {
		return append(b, 0)
	}
	flags := byte(1)
	if c.Exists {
		flags |= 2
	}
	b = append(append(b, flags), c.Start.Node[:]...)
	b = append(append(b, c.Memory.Founding[:]...), c.Promise.To.Node[:]...)
	for _, n := range []uint64{c.Start.Count, c.Memory.Token, c.Memory.Next, c.Change, c.Promise.To.Count, c.Promise.Round, uint64(c.Expect)} {
		b = binary.LittleEndian.AppendUint64(b, n)
	}
	return b
}

// state is the inverse of appendState.
func (d *decoder) state(name string) *founding.Candidate {
	flags := d.uint8()
	if flags == 0 {
		return nil
	}
	c := &founding.Candidate{Name: name, Exists: flags&2 != 0}
	c.Start.Node, c.Memory.Founding, c.Promise.To.Node = founding.ID(d.nonce()), founding.ID(d.nonce()), founding.ID(d.nonce())
	for _, n := range []*uint64{&c.Start.Count, &c.Memory.Token, &c.Memory.Next, &c.Change, &c.Promise.To.Count, &c.Promise.Round} {
		*n = d.uint64()
	}
	expect := d.uint64()
	if c.Expect = uint32(expect); flags != 1 && flags != 3 || expect > maxMembers || c.Start.Count == 0 {
		d.err = errMalformed
	}
	return c
}
