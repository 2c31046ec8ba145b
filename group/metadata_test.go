package group_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"banyan/group"
)

// What members say of themselves comes with views: from the first view on, the same in all members,
// and each one's changes in their order.
func TestMetadata(t *testing.T) {
	a := join(t, group.Config{Secret: secret, Name: "a", Metadata: "first"})
	b := join(t, group.Config{Secret: secret, Name: "b", Metadata: "from b", Seeds: []string{a.Self().Address}})
	c := join(t, group.Config{Secret: secret, Name: "c", Seeds: []string{b.Self().Address}})
	if v := b.Latest(); v.MetadataOf("b") != "from b" || v.MetadataOf("a") != "first" {
		t.Errorf("%+v", v)
	}
	if v := c.Latest(); v.MetadataOf("b") != "from b" || v.MetadataOf("c") != "" {
		t.Errorf("%+v", v)
	}
	const changes = 20
	for i := range changes {
		for _, m := range []*group.Member{a, b, c} {
			if err := m.SetMetadata(fmt.Sprintf("%s %02d", m.Self().Name, i)); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(time.Duration(i%3) * 2 * time.Millisecond)
	}
	seen := map[uint64][]group.Metadata{}
	for _, m := range []*group.Member{a, b, c} {
		last := map[string]string{}
		done := 0
		for v := range m.Views() {
			if first, ok := seen[v.Number]; ok && !reflect.DeepEqual(first, v.Metadata) {
				t.Fatalf("view %d: %v, another member has %v", v.Number, v.Metadata, first)
			}
			seen[v.Number] = v.Metadata
			for _, who := range v.Changed {
				text := v.MetadataOf(who.Name)
				if before := last[who.Name]; strings.HasPrefix(before, who.Name+" ") && text <= before {
					t.Errorf("%v: %q after %q", who, text, last[who.Name])
				}
				if last[who.Name] = text; strings.HasSuffix(text, fmt.Sprint(changes-1)) {
					done++
				}
			}
			if done == 3 {
				break
			}
		}
	}
	v := a.Latest()
	if got := fmt.Sprint(v.Metadata); got != "[a.1: a 19 b.2: b 19 c.3: c 19]" {
		t.Error(got)
	}
	text, err := json.Marshal(v)
	var again group.View
	if err == nil {
		err = json.Unmarshal(text, &again)
	}
	if err != nil || !reflect.DeepEqual(v, again) || !strings.Contains(string(text), `"Text":"b 19"`) {
		t.Errorf("%v, %s", err, text)
	}
	// A member that comes back says what it says now. One that says nothing any more isn't there.
	b.Close()
	b = join(t, group.Config{Secret: secret, Name: "b", Seeds: []string{a.Self().Address}})
	if v := b.Latest(); v.MetadataOf("b") != "" || v.MetadataOf("c") != "c 19" {
		t.Errorf("%+v", v.Metadata)
	}
	if err := c.SetMetadata(""); err != nil {
		t.Fatal(err)
	}
	for c := range b.Watch(t.Context()) {
		if c.View.MetadataOf("c") == "" {
			break
		}
	}
	for _, text := range []string{strings.Repeat("x", 257), "\xff"} {
		if err := a.SetMetadata(text); !errors.Is(err, group.ErrConfig) || !strings.Contains(err.Error(), "Metadata") {
			t.Error(err)
		}
		if _, err := group.Join(t.Context(), group.Config{Name: "d", Secret: secret, Metadata: text}); !errors.Is(err, group.ErrConfig) {
			t.Error(err)
		}
	}
}
