package process

import "testing"

func TestSlabForgetsOldHandles(t *testing.T) {
	var s slab[int]
	a, v := s.take()
	*v = 7
	s.put(a)
	b, _ := s.take()
	if s.get(a) != nil {
		t.Error("a freed handle still names something")
	}
	if b.index != a.index || s.get(b) == nil {
		t.Errorf("index %d was not reused: got %d", a.index, b.index)
	}
	if got := handleOf(b.bits()); got != b {
		t.Errorf("%+v travels as %+v", b, got)
	}
	if s.get(Handle{}) != nil || s.get(handleOf(1<<40|99999)) != nil {
		t.Error("a made-up handle names something")
	}
}

func TestSlabKeepsAddresses(t *testing.T) {
	var s slab[int]
	var hs []Handle
	var ps []*int
	for i := range 1000 {
		h, p := s.take()
		*p = i
		hs, ps = append(hs, h), append(ps, p)
	}
	for i, h := range hs {
		if s.get(h) != ps[i] || *ps[i] != i {
			t.Fatalf("entry %d moved or changed", i)
		}
	}
	for _, h := range hs {
		s.put(h)
	}
	s.each(func(h Handle, _ *int) { t.Errorf("%+v is still in use", h) })
}

func TestBuffers(t *testing.T) {
	var b buffers
	for _, n := range []int{0, 1, 63, 64, 65, 4096, 1<<20 - 1, 1 << 20, 1<<20 + 1} {
		s := b.get(n)
		if len(s) != n {
			t.Fatalf("asked for %d, got %d", n, len(s))
		}
		b.put(s)
	}
	b.put(nil)
	b.put(make([]byte, 100)) // not one of the pool's: left to the collector
	x := b.copyOf([]byte("abc"))
	if string(x) != "abc" {
		t.Errorf("copy is %q", x)
	}
	if allocs := testing.AllocsPerRun(100, func() { b.put(b.get(5000)) }); allocs > 0 {
		t.Errorf("%v allocations for a warm buffer", allocs)
	}
}
