package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http/httptest"
	"path/filepath"
	"testing"
	"time"

	"banyan/group"
)

// All shards have one owner each, shares are alike, and a change moves only what it must.
func TestOwners(t *testing.T) {
	three := group.View{Members: []group.Identity{{Name: "anna"}, {Name: "bert"}, {Name: "cleo"}}}
	two := group.View{Members: three.Members[:2]}
	sum := 0
	for _, m := range three.Members {
		n := len(owned(&three, m.Name))
		if sum += n; n < shards/6 {
			t.Errorf("%s has %d of %d shards", m.Name, n, shards)
		}
	}
	if sum != shards {
		t.Errorf("%d shards have owners", sum)
	}
	for shard := range shards {
		if before, after := ownerOf(&three, shard), ownerOf(&two, shard); before != "cleo" && before != after {
			t.Errorf("shard %d moves from %s to %s", shard, before, after)
		}
	}
	if o := ownerOf(&group.View{}, 0); o != "" {
		t.Errorf("%s owns a shard of an empty view", o)
	}
}

// One process has all shards. After an outage of all processes another one founds the group anew,
// and the store takes its writes and refuses those of the past.
func TestFenced(t *testing.T) {
	s := &store{filepath.Join(t.TempDir(), "store")}
	var past group.View
	for i := range 2 {
		m, err := group.Join(t.Context(), group.Config{Group: "shards", Name: fmt.Sprint("n", i), Secret: []byte("known to the members only")})
		if err != nil {
			t.Fatal(err)
		}
		o := &owner{name: m.Self().Name, store: s}
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		done := make(chan error, 1)
		go func() { done <- o.work(ctx, m) }()
		for ctx.Err() == nil {
			if _, by, err := s.read(shards - 1); err == nil && by == o.name {
				break
			}
			time.Sleep(time.Millisecond)
		}
		page := httptest.NewRecorder()
		o.ServeHTTP(page, nil)
		var status struct {
			View   group.View
			Shards []int
			Fenced int
		}
		if err := json.Unmarshal(page.Body.Bytes(), &status); err != nil || len(status.Shards) != shards || status.Fenced > 0 || status.View.Token <= past.Token {
			t.Errorf("%s, %v", page.Body, err)
		}
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
		m.Close()
		if i == 0 {
			past = status.View
		}
	}
	if err := s.write(3, past.Token, "n0"); !errors.Is(err, errLate) {
		t.Errorf("the past writes: %v", err)
	}
}
