package groupnode

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"
)

// The secret of a group is changed while the group goes on: each member is restarted three times.
// At each moment all members hear each other. A process that knows only the old secret isn't let
// in afterwards.
func TestChangedSecret(t *testing.T) {
	t.Parallel()
	before, after := []byte("the secret before"), []byte("the secret afterwards")
	for _, encrypt := range []bool{false, true} {
		config := func(name string, own []byte, others ...[]byte) Config {
			cfg := testConfig(name, newViewLog())
			cfg.Secret, cfg.OtherSecrets, cfg.Encrypt = own, others, encrypt
			return cfg
		}
		members := make([]*Member, 3)
		logs := make([]*viewLog, 3)
		start := func(i int, cfg Config) {
			if old := members[i]; old != nil {
				if err := old.Leave(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			for k, m := range members {
				if k != i && m != nil {
					cfg.Seeds = append(cfg.Seeds, m.Card().Address)
				}
			}
			logs[i] = cfg.Observer.(*viewLog)
			members[i] = testJoin(t, cfg)
		}
		for i := range members {
			start(i, config(fmt.Sprint("m", i), before))
		}
		for _, step := range [][][]byte{{before, after}, {after, before}, {after}} {
			for i := range members {
				start(i, config(fmt.Sprint("m", i), step[0], step[1:]...))
				for _, d := range logs {
					if v := d.await(t, 3); len(v.Gone) > 0 {
						t.Fatalf("a member has gone: %+v", v)
					}
				}
			}
		}
		late := config("late", before, after)
		late.Seeds = []string{members[0].Card().Address}
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		if _, err := Join(ctx, late); !errors.Is(err, ErrSecret) {
			t.Errorf("a process with the old secret: %v", err)
		}
		cancel()
		for _, m := range members {
			m.Close()
		}
	}
	short := testConfig("a", newViewLog())
	short.OtherSecrets = [][]byte{[]byte("short")}
	if _, err := Join(t.Context(), short); !errors.Is(err, ErrConfig) {
		t.Error(err)
	}
}
