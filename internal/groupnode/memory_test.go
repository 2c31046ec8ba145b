package groupnode

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"banyan/internal/groupnode/store"
	"banyan/internal/proto/membership"
)

// diskLog is an observer that looks at the disk of its member whenever that sends something.
type diskLog struct {
	*viewLog
	t    *testing.T
	dir  string
	acks int
}

func (d *diskLog) record() (r store.Record) {
	content, err := os.ReadFile(filepath.Join(d.dir, "group.json"))
	if err == nil {
		err = json.Unmarshal(content, &r)
	}
	if err != nil {
		d.t.Error(err)
	}
	return r
}

// Sent checks that what a member lets others rely on is on its disk.
func (d *diskLog) Sent(to membership.Member, x *membership.Message) {
	r := d.record()
	if x.Number > 4 {
		d.viewLog.Sent(to, x)
		return // nobody joins with these views
	}
	switch x.Kind {
	case membership.Ack:
		if r.View == nil || r.View.Number < x.Number && (r.Next == nil || r.Next.Number != x.Number) {
			d.t.Errorf("view %d is accepted, on disk are %+v and %+v", x.Number, r.View, r.Next)
		}
		d.acks++
	case membership.Commit:
		if r.View == nil || r.View.Number != x.Number && (r.Next == nil || r.Next.Number != x.Number) {
			d.t.Errorf("view %d is committed, on disk are %+v and %+v", x.Number, r.View, r.Next)
		}
	}
	d.viewLog.Sent(to, x)
}

// A view is on the disk of a member before the member accepts it, if processes join with it, and
// before the member commits it. After a member has left nothing of the group is.
func TestRememberedFirst(t *testing.T) {
	logs := map[string]*diskLog{}
	config := func(name string, seeds ...string) Config {
		d := &diskLog{viewLog: newViewLog(), t: t, dir: filepath.Join(t.TempDir(), name)}
		logs[name] = d
		cfg := testConfig(name, d.viewLog, seeds...)
		cfg.Observer, cfg.Dir = d, d.dir
		return cfg
	}
	a := testJoin(t, config("a"))
	b := testJoin(t, config("b", a.Card().Address))
	testJoin(t, config("c", a.Card().Address))
	d := testJoin(t, config("d", a.Card().Address))
	logs["b"].await(t, 4)
	if err := d.Leave(t.Context()); err != nil {
		t.Fatal(err)
	}
	if r := logs["d"].record(); r.View != nil || r.Next != nil {
		t.Errorf("a member that has left remembers %+v and %+v", r.View, r.Next)
	}
	v := logs["b"].await(t, 3)
	b.Close()
	r := logs["b"].record()
	if r.View.Number != v.Number || len(r.View.Members) != 3 || !slices.ContainsFunc(r.View.Members, func(m store.Member) bool {
		return m.Name == "b" && m.Node == r.Node && m.Address == b.Card().Address
	}) {
		t.Errorf("b remembers %+v of view %d", r.View, v.Number)
	}
	if logs["b"].acks == 0 {
		t.Error("b has acknowledged nothing")
	}
}

// A member whose disk fails ends: it must not let others rely on what it would forget.
func TestDiskFails(t *testing.T) {
	cfg := testConfig("a", newViewLog())
	cfg.Dir = filepath.Join(t.TempDir(), "a")
	a := testJoin(t, cfg)
	if err := os.RemoveAll(cfg.Dir); err != nil {
		t.Fatal(err)
	}
	b := testConfig("b", newViewLog(), a.Card().Address)
	ctx := t.Context()
	go Join(ctx, b)
	<-a.over
	if a.Err() == nil {
		t.Error("no error")
	}
}
