package group_test

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"testing"

	"banyan/group"
)

// After a total outage, the views of a new founding begin with number 1. Their tokens are higher
// than all before, so nothing of the past fences them off.
func TestTokensRiseAcrossFoundings(t *testing.T) {
	for name, epochs := range map[string]group.Epochs{
		"clock": nil,
		"file":  group.FileEpochs(filepath.Join(t.TempDir(), "epoch")),
	} {
		t.Run(name, func(t *testing.T) {
			var last group.View
			for range 3 {
				cfg := config("anna")
				cfg.Epochs, cfg.Group = epochs, "shards"
				anna := join(t, cfg)
				other := config("bert", anna.Self().Address)
				other.Group = "shards"
				bert := join(t, other)
				a := await(t, anna, "two members", func(v *group.View) bool { return len(v.Members) == 2 })
				b := await(t, bert, "two members", func(v *group.View) bool { return len(v.Members) == 2 })
				if a.Token != b.Token || a.Founding != b.Founding || a.Group != "shards" || b.Group != "shards" {
					t.Errorf("one view has tokens %d and %d, foundings %v and %v, groups %s and %s", a.Token, b.Token, a.Founding, b.Founding, a.Group, b.Group)
				}
				bert.Close()
				v := await(t, anna, "one member", func(v *group.View) bool { return v.Number == 3 })
				if v.Token != a.Token+1 || v.Founding != a.Founding {
					t.Errorf("token %d of founding %v follows %d of %v", v.Token, v.Founding, a.Token, a.Founding)
				}
				if a.Token-1 <= last.Token || a.Founding == last.Founding {
					t.Errorf("the next founding %v has token %d after %d of %v", a.Founding, a.Token, last.Token, last.Founding)
				}
				last = v
				anna.Close()
			}
		})
	}
}

func TestFoundingAsText(t *testing.T) {
	v := group.View{Founding: group.Founding{1, 0xfe}}
	text, err := json.Marshal(v)
	var got group.View
	if err == nil {
		err = json.Unmarshal(text, &got)
	}
	if err != nil || got.Founding != v.Founding {
		t.Errorf("%s, %v", text, err)
	}
	for _, bad := range []string{"", "01", fmt.Sprintf("%032d", 0)[1:] + "g", fmt.Sprintf("%034d", 0)} {
		if err := new(group.Founding).UnmarshalText([]byte(bad)); err == nil {
			t.Errorf("%q is taken", bad)
		}
	}
}

// A resource keeps the highest token that it has seen. A process that comes with a lower one is
// too late.
func ExampleView_token() {
	store := struct{ token uint64 }{}
	write := func(v group.View) bool {
		if v.Token < store.token {
			return false // another member has this shard by a later view
		}
		store.token = v.Token
		return true
	}
	epoch := uint64(0)
	cfg := group.Config{Group: "shards", Name: "anna", Secret: []byte("known to the members only")}
	cfg.Epochs = group.EpochsFunc(func(context.Context) (uint64, error) { epoch++; return epoch, nil }) // a row of a database
	var stale group.View
	for range 2 { // the second time after an outage
		m, err := group.Join(context.Background(), cfg)
		if err != nil {
			fmt.Println(err)
			return
		}
		v := <-m.Views()
		fmt.Printf("view %d, token %#x: %v\n", v.Number, v.Token, write(v))
		if stale.Number > 0 {
			fmt.Printf("token %#x: %v\n", stale.Token, write(stale))
		}
		stale = v
		m.Close()
	}
	// Output:
	// view 1, token 0x100000001: true
	// view 1, token 0x200000001: true
	// token 0x100000001: false
}
