package groupnode

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"banyan/internal/proto/membership"
)

// Without Epochs, a founding's tokens are above all that an earlier founding can have given by
// then, by the same clock, and fit an int64 for long.
func TestClockBase(t *testing.T) {
	at := time.Date(2026, time.November, 23, 12, 0, 0, 999_999_000, time.UTC)
	for range 100 {
		first := Founding{Base: clockBase(at)}
		// A view takes more than a microsecond, so that many can't have been.
		if later := (Founding{Base: clockBase(at.Add(time.Millisecond))}); later.Token(1) <= first.Token(1000) {
			t.Fatalf("at %v: %d, a millisecond later %d", at, first.Base, later.Base)
		}
		at = at.Add(31 * time.Microsecond)
	}
	if b := clockBase(time.Date(2087, time.January, 1, 0, 0, 0, 0, time.UTC)); int64(b) <= 0 {
		t.Errorf("in 2087 a token is %d as an int64", int64(b))
	}
	if b := clockBase(time.Time{}); b>>32 != 1 {
		t.Errorf("a clock that stands at 0 gives epoch %d", b>>32)
	}
}

type fixedEpochs struct {
	n   uint64
	err error
}

func (e fixedEpochs) Next(context.Context) (uint64, error) { return e.n, e.err }

// A founding without a valid epoch doesn't happen.
func TestBadEpochs(t *testing.T) {
	broken := errors.New("the database is down")
	for _, tc := range []struct {
		epochs fixedEpochs
		want   error
	}{{fixedEpochs{0, nil}, ErrConfig}, {fixedEpochs{MaxEpoch + 1, nil}, ErrConfig}, {fixedEpochs{0, broken}, broken}} {
		cfg := testConfig("anna", newViewLog())
		cfg.Epochs = tc.epochs
		if m, err := Join(t.Context(), cfg); !errors.Is(err, tc.want) {
			t.Errorf("%+v: %v, %v", tc.epochs, m, err)
		}
	}
}

// A process that wants to be in another group is told so.
func TestOtherGroup(t *testing.T) {
	cfg := testConfig("anna", newViewLog())
	cfg.Group = "shards"
	anna := testJoin(t, cfg)
	other := testConfig("bert", newViewLog(), anna.Card().Address)
	other.Group = "jobs"
	if _, err := Join(t.Context(), other); !errors.Is(err, ErrRefused) || !strings.Contains(err.Error(), `this is group "shards", not "jobs"`) {
		t.Error(err)
	}
}

// A member has nothing to do with members of another founding, even of one that knows its nonce.
func TestOtherFounding(t *testing.T) {
	anna := testJoin(t, testConfig("anna", newViewLog()))
	h := &hello{purpose: toSend, to: anna.Card().Nonce, founding: Founding{ID: newNonce(), Base: 1},
		settings: anna.cfg.settings(), member: membership.Member{Proc: 7, Incarnation: 9}, card: someEntries()[0].card}
	if _, a := impostor(t, anna, h); a.verdict != refused || !strings.Contains(a.text, "founding") {
		t.Errorf("%+v", a)
	}
	h.founding = anna.founding
	if _, a := impostor(t, anna, h); a.verdict != welcome {
		t.Errorf("of the same founding: %+v", a)
	}
}
