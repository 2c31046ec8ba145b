package group_test

import (
	"errors"
	"fmt"
	"os"
	"testing"

	"banyan/group"
)

// Five processes with the same configuration found one group. After they were all killed they go
// on with what they have on disk, and don't found it as if it had never been.
func TestExpect(t *testing.T) {
	t.Parallel()
	o := &outage{t: t, members: make([]testMember, 5)}
	seeds := ownAddresses(5)
	dir := t.TempDir()
	for i := range seeds {
		cfg := processConfig(fmt.Sprint("p", i), seeds...)
		cfg.Group, cfg.Listen, cfg.Expect, cfg.Dir = "shards", seeds[i], 5, fmt.Sprint(dir, "/", i)
		o.cfgs = append(o.cfgs, cfg)
	}
	o.start(4, 2, 0, 1, 3)
	o.rise(5)
	o.kill(0, 1, 2, 3, 4)
	// p4 has lost its disk. The others know that it was a member, and wait for an operator.
	if err := os.RemoveAll(o.cfgs[4].Dir); err != nil {
		t.Fatal(err)
	}
	o.start(4, 2, 0, 1)
	if m, err := group.Join(expired(t), o.cfgs[3]); err == nil {
		m.Close()
		t.Error("a group is founded without what p4 knew")
	}
}

func TestBadExpect(t *testing.T) {
	for _, cfg := range []group.Config{{Expect: -1}, {Expect: 1025}, {Expect: 2}} {
		cfg.Name, cfg.Secret = "anna", secret
		if _, err := group.Join(t.Context(), cfg); !errors.Is(err, group.ErrConfig) {
			t.Errorf("%+v: %v", cfg, err)
		}
	}
}
