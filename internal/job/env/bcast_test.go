package env

import (
	"strings"
	"testing"

	"banyan/internal/proto/broadcast"
)

func TestBcastText(t *testing.T) {
	for text, want := range map[string]string{
		"":                   "auto",
		"auto":               "auto",
		"tree=lame":          "tree=lame:2,correction=skip-ahead:2:0,numbering=interleaved,after=50us",
		"correction=checked": "tree=binomial,correction=checked,numbering=interleaved,after=50us",
		"tree=kary:3, correction=opportunistic:1":           "tree=kary:3,correction=opportunistic:1:1,numbering=interleaved,after=50us",
		"tree=optimal,correction=optimized:0:3,after=0s":    "tree=optimal:2:1,correction=optimized:0:3,numbering=interleaved,after=0s",
		"tree=optimal:4:2,correction=none":                  "tree=optimal:4:2,correction=none,numbering=interleaved,after=50us",
		"tree=gossip,correction=failure-proof":              "tree=gossip,correction=failure-proof,numbering=interleaved,after=50us",
		"tree=gossip:7,correction=checked":                  "tree=gossip:7,correction=checked,numbering=interleaved,after=50us",
		"correction=delayed,numbering=inorder":              "tree=binomial,correction=delayed:50us,numbering=inorder,after=50us",
		"correction=delayed:1ms,tree=star,start=overlapped": "tree=star,correction=delayed:1ms,numbering=interleaved,after=50us",
		"tree=chain,correction=optimized":                   "tree=chain,correction=optimized:2:2,numbering=interleaved,after=50us",
	} {
		s, err := ParseBcast(text)
		if got := FormatBcast(s); err != nil || got != want {
			t.Errorf("%q is %s, %v; want %s", text, got, err, want)
		}
		if again, err := ParseBcast(want); again != s || err != nil {
			t.Errorf("%q is read as %+v, %v; want %+v", want, again, err, s)
		}
	}
}

func TestBcastRefusals(t *testing.T) {
	for text, want := range map[string]string{
		"lame":                           "want tree=KIND",
		"tree=":                          "want tree=KIND",
		"tree=lame,":                     "want tree=KIND",
		"tree=lame,tree=chain":           "twice",
		"wood=lame":                      "unknown key",
		"tree=oak":                       "want binomial, kary, lame, optimal, chain, star or gossip",
		"tree=lame:0":                    "want a number from 1",
		"tree=lame:x":                    "want a number from 1",
		"tree=kary:99999999":             "65536",
		"tree=binomial:2":                "has no number",
		"tree=optimal:2":                 "optimal:L:O",
		"tree=optimal:-1:1":              "from 0",
		"tree=optimal:1:0":               "from 1",
		"tree=gossip:32":                 "1 to 31 rounds",
		"tree=gossip:0":                  "want a number from 1",
		"tree=gossip:20us":               "clock",
		"tree=gossip,correction=delayed": "needs a tree",
		"correction=some":                "unknown correction",
		"correction=ack":                 "can't be chosen in a job",
		"correction=checked:2":           "has no number",
		"correction=optimized:0":         "want a number from 1",
		"correction=optimized:0:0":       "one of them 1 or more",
		"correction=optimized:-1:2":      "from 0",
		"correction=delayed:-1us":        "want a time",
		"correction=delayed:2m":          "want a time",
		"numbering=random":               "interleaved or inorder",
		"after=soon":                     "want a time",
		"start=synchronized":             "no common clock",
		"start=now":                      "want overlapped",
	} {
		if s, err := ParseBcast(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q is %+v, %v; want an error with %q", text, s, err, want)
		}
	}
	t.Setenv(Bcast, "tree=oak")
	if _, err := ReadBcast(); err == nil || !strings.HasPrefix(err.Error(), Bcast+": ") {
		t.Errorf("read: %v", err)
	}
}

// Every scheme fits communicators of all sizes.
func TestBcastFitsAllSizes(t *testing.T) {
	for _, tree := range broadcast.TreeKinds {
		for _, correction := range []string{"none", "checked", "optimized:3:5", "opportunistic:9", "delayed", "failure-proof"} {
			s, err := ParseBcast("tree=" + string(tree) + ",correction=" + correction)
			if tree == broadcast.TreeGossip && correction == "delayed" {
				continue
			}
			for size := 1; size <= 70 && err == nil; size++ {
				_, err = s.Config(size)
			}
			if err != nil {
				t.Errorf("%s, %s: %v", tree, correction, err)
			}
		}
	}
}
