package mesh

import (
	"errors"
	"strings"
	"testing"
	"time"

	"banyan/internal/proto"
	"banyan/internal/runtime/wire"
)

// A process may have to dial a replacement before it hears where the replacement is.
func TestCardOfAReplacementIsAwaited(t *testing.T) {
	asked := 0
	d := &dialler{limit: 20 * time.Second, resolve: func(proto.Proc) (Card, error) {
		asked++
		return Card{Incarnation: proto.Incarnation(asked / 3)}, nil
	}}
	d.table = newLinkTable(0, []proto.Incarnation{0, 1}, 0, func() {})
	d.table.startDial(1)
	if card, err := d.awaitCard(t.Context(), 1, 1); err != nil || card.Incarnation != 1 || asked != 3 {
		t.Errorf("%v, %v after %d questions", card, err, asked)
	}
	d.limit = time.Millisecond
	if _, err := d.awaitCard(t.Context(), 1, 1000); !errors.Is(err, errOld) {
		t.Errorf("%v", err)
	}
	d.limit, asked = time.Hour, 0
	d.table.fence(1, false)
	if _, err := d.awaitCard(t.Context(), 1, 1); !errors.Is(err, errOld) || asked != 1 {
		t.Errorf("%v after %d questions, of a peer that nobody wants any more", err, asked)
	}
	asked = 6
	if _, err := d.awaitCard(t.Context(), 1, 1); !errors.Is(err, errReplaced) {
		t.Errorf("%v", err)
	}
}

// A peer that was replaced before it was reached has died and is no stranger: there is no
// warning. A warning would be on the program's stderr, at one replica of a rank and not at
// others.
func TestReplacedPeerIsNoWarning(t *testing.T) {
	var log testLog
	c := newLocalJob(t, 2, func(cfg *Config) {
		if resolve := cfg.Resolve; cfg.Self == 0 {
			cfg.Logger = log.logger()
			cfg.Resolve = func(p proto.Proc) (Card, error) {
				card, err := resolve(p)
				card.Incarnation++
				return card, err
			}
		}
	})
	c.transports[0].Send(1, &wire.Header{Kind: wire.KindDone}, nil, 0)
	c.until("it is logged", func() bool { return len(log.lines()) > 0 })
	line := log.lines()[0]
	if !strings.Contains(line, errReplaced.Error()) || !strings.Contains(line, "level=DEBUG") || c.transports[0].refused.Load() {
		t.Errorf("logged is %s", line)
	}
}
