package membership

import (
	"errors"
	"strings"
	"testing"

	"banyan/internal/proto"
	"banyan/internal/testing/explore"
)

// metadataRules are small groups whose members change what they say of themselves: twice, or once
// while others die, join and leave, or while the network is cut.
func metadataRules() (all []rules) {
	for n := 1; n <= 4; n++ {
		r := rules{members: n, changes: 2, why: Died, reduced: true}
		all = append(all, r)
		r.changes = 1
		joins, leaves, lies := r, r, r
		joins.joiners = []Member{{Proc: proto.Proc(n)}}
		leaves.leavers = []int{0}
		all = append(all, joins, leaves)
		if n > 1 {
			for crashes := 1; crashes < n && crashes < 3; crashes++ {
				dies, both := r, joins
				dies.crashes, both.crashes = crashes, crashes
				all = append(all, dies, both)
			}
			cut := r
			cut.cutoff, cut.side, cut.crashes = true, 1, 1
			all = append(all, cut)
		}
		if n > 2 {
			lies.lies = 1
			all = append(all, lies)
		}
	}
	return all
}

// TestMetadata explores metadataRules: all that have a view of a number have the same metadata
// with it, and in the end all that a live member has said is in the view.
func TestMetadata(t *testing.T) {
	limit := 2000
	if explore.Long() {
		limit = 1_000_000
	}
	total, partly := 0, 0
	for i, r := range metadataRules() {
		stats, err := explore.All(newWorld(r), limit)
		total += stats.States
		switch {
		case stats.States >= limit && !errors.As(err, new(*explore.Violation)):
			partly++
			for seed := range uint64(100) {
				if err := explore.Random(newWorld(r), uint64(i)<<10+seed+1, 10_000); err != nil {
					t.Fatalf("%v: %v", r, err)
				}
			}
		case err != nil:
			t.Fatalf("%v: %v", r, err)
		}
	}
	t.Logf("%d states of %d groups, %d of them partly", total, len(metadataRules()), partly)
}

// TestMetadataCatches: the exploration finds what would be wrong without its rules.
func TestMetadataCatches(t *testing.T) {
	for _, x := range []struct {
		bugs bugs
		says string
	}{
		{bugs{asksOnce: true}, "metadata:"},
		{bugs{adoptsWithoutMetadata: true}, "agreement:"},
	} {
		r := rules{members: 4, changes: 1, crashes: 2, why: Died, bugs: x.bugs}
		var found error
		for seed := uint64(1); seed <= 100_000 && found == nil; seed++ {
			found = explore.Random(newWorld(r), seed, 10_000)
		}
		if found == nil || !strings.Contains(found.Error(), x.says) {
			t.Errorf("%+v: %v, want %s", x.bugs, found, x.says)
		}
	}
}

// A view's metadata are those of its members, each version once.
func TestMetadataOfViews(t *testing.T) {
	v := FirstView(3)
	a, b := v.Members[0], v.Members[1]
	v = v.Next(nil, nil, Metadata{b, 1, "b1"}, Metadata{a, 1, "a1"})
	w := v.Next([]Departure{{a, Died}}, []Member{{0, 3}}, Metadata{Member{0, 3}, 1, "new"})
	if w.MetadataOf(a).Version != 0 || w.MetadataOf(b).Bytes != "b1" || w.MetadataOf(Member{0, 3}).Bytes != "new" || len(w.Updated) != 1 {
		t.Errorf("%+v", w)
	}
	if err := w.follows(v); err != nil {
		t.Error(err)
	}
	for want, d := range map[string][]Metadata{
		"of version 1":       {{b, 1, "again"}},
		"without a version":  {{b, 0, "x"}},
		"have 257 bytes":     {{b, 2, strings.Repeat("x", MaxMetadata+1)}},
		"metadata of 0.0 of": {{a, 2, "gone"}},
	} {
		if err := v.Next([]Departure{{a, Died}}, nil, d...).follows(v); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	for want, all := range map[string][]Metadata{"aren't in order": {{b, 1, ""}, {a, 1, ""}}, "no member": {{Member{9, 9}, 1, ""}}} {
		if err := FirstView(3).SetMetadata(nil, all); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	if err := FirstView(3).SetMetadata([]Metadata{{a, 2, ""}}, []Metadata{{a, 1, ""}}); err == nil {
		t.Error("a change that isn't in the view is taken")
	}
}

// Remind repeats a request that the coordinator couldn't take.
func TestRemind(t *testing.T) {
	v := FirstView(2)
	m := New(Config{Self: v.Members[1]}, v)
	var out Actions
	if m.Remind(0, &out) || len(out) > 0 {
		t.Errorf("nothing was asked for: %v", out)
	}
	m.SetMetadata(0, "x", &out)
	m.Leave(0, &out)
	asked := len(out)
	if !m.Remind(0, &out) || len(out) != 2*asked || out[asked].Message.Kind != Leave || out[asked+1].Message.Kind != Update {
		t.Errorf("%+v", out)
	}
}
