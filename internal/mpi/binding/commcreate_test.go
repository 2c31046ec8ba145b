package binding

import (
	"slices"
	"sync"
	"testing"
)

// worldRanks are a communicator's members.
func worldRanks(t *testing.T, p *Process, c Comm) []int32 {
	t.Helper()
	var g Group
	ok(t, "CommGroup", p.CommGroup(c, &g))
	defer p.GroupFree(&g)
	return members(t, p, g)
}

// Each constructor gives the members that it should, in order, and communicators that
// compare as the standard says.
func TestCommConstructors(t *testing.T) {
	ranks(t, 6, func(t *testing.T, p *Process) {
		me := int32(rankOf(p))
		var dup, split, shared, created, some, hw Comm
		ok(t, "dup", p.CommDup(CommWorld, &dup))
		ok(t, "split", p.CommSplit(CommWorld, me%2, -me, &split))
		if want := [][]int32{{4, 2, 0}, {5, 3, 1}}[me%2]; !slices.Equal(worldRanks(t, p, split), want) {
			t.Errorf("split: %v, want %v", worldRanks(t, p, split), want)
		}
		color := int32(Undefined)
		if me == 3 {
			color = 0
		}
		var undefined Comm
		ok(t, "split", p.CommSplit(dup, color, 0, &undefined))
		if (undefined == CommNull) != (me != 3) {
			t.Errorf("rank %d with color %d has %#x", me, color, undefined)
		}
		ok(t, "split_type", p.CommSplitType(CommWorld, CommTypeShared, 0, InfoNull, &shared))
		if got := worldRanks(t, p, shared); len(got) != 6 {
			t.Errorf("ranks that share memory: %v", got)
		}
		ok(t, "split_type", p.CommSplitType(CommWorld, CommTypeHwUnguided, 0, InfoNull, &hw))
		if hw != CommNull {
			t.Error("there is something smaller than a host")
		}
		var world, g Group
		ok(t, "group", p.CommGroup(CommWorld, &world))
		list := []int32{5, 1, 2}
		ok(t, "incl", p.GroupIncl(world, 3, &list[0], &g))
		ok(t, "create", p.CommCreate(CommWorld, g, &created))
		if in := slices.Contains(list, me); (created != CommNull) != in {
			t.Errorf("rank %d in the group: %v, in the communicator %#x", me, in, created)
		} else if in {
			if !slices.Equal(worldRanks(t, p, created), list) {
				t.Errorf("create: %v", worldRanks(t, p, created))
			}
			ok(t, "create_group", p.CommCreateGroup(CommWorld, g, 4, &some))
			if !slices.Equal(worldRanks(t, p, some), list) {
				t.Errorf("create_group: %v", worldRanks(t, p, some))
			}
		}
		compare := func(a, b Comm, want int32) {
			t.Helper()
			var got int32
			if ok(t, "compare", p.CommCompare(a, b, &got)); got != want {
				t.Errorf("%#x and %#x compare as %d, want %d", a, b, got, want)
			}
		}
		compare(CommWorld, CommWorld, Ident)
		compare(CommWorld, dup, Congruent)
		compare(CommWorld, split, Unequal)
		var backwards Comm
		ok(t, "split", p.CommSplit(CommWorld, 0, -me, &backwards))
		compare(CommWorld, backwards, Similar)
		for _, c := range []*Comm{&dup, &split, &shared, &backwards} {
			old := *c
			ok(t, "free", p.CommFree(c))
			if *c != CommNull || p.communicator(old) != nil {
				t.Errorf("freed, it is %#x", *c)
			}
		}
	})
}

// A duplicate inherits the error handler and the hints. A split communicator inherits only the
// error handler.
func TestInherit(t *testing.T) {
	ranks(t, 1, func(t *testing.T, p *Process) {
		var i Info
		ok(t, "info", p.InfoCreate(&i))
		ok(t, "info", p.InfoSet(i, cString("mood"), cString("good")))
		ok(t, "set_info", p.CommSetInfo(CommWorld, i))
		ok(t, "set", p.CommSetErrhandler(CommWorld, ErrorsReturn))
		value := func(c Comm) string {
			t.Helper()
			var got Info
			ok(t, "get_info", p.CommGetInfo(c, &got))
			v, _ := p.info(got).get("mood")
			ok(t, "free", p.InfoFree(&got))
			return v
		}
		ok(t, "info", p.InfoSet(i, cString("mood"), cString("bad")))
		var dup, with, split, idup Comm
		var r Request
		ok(t, "dup", p.CommDup(CommWorld, &dup))
		ok(t, "dup_with_info", p.CommDupWithInfo(CommWorld, i, &with))
		ok(t, "split", p.CommSplit(CommWorld, 0, 0, &split))
		ok(t, "idup", p.CommIdup(with, &idup, &r))
		for c, want := range map[Comm]string{CommWorld: "good", dup: "good", with: "bad", split: "", idup: "bad"} {
			if got := value(c); got != want {
				t.Errorf("%#x: %q, want %q", c, got, want)
			}
			var h Errhandler
			if ok(t, "get", p.CommGetErrhandler(c, &h)); h != ErrorsReturn {
				t.Errorf("%#x has the error handler %#x", c, h)
			}
		}
		name, length := make([]byte, MaxObjectName), int32(0)
		for c, want := range map[Comm]string{CommWorld: "MPI_COMM_WORLD", CommSelf: "MPI_COMM_SELF", dup: "", CommNull: "MPI_COMM_NULL"} {
			if ok(t, "name", p.CommGetName(c, &name[0], &length)); goString(&name[0]) != want || int(length) != len(want) {
				t.Errorf("%#x is named %q (%d)", c, goString(&name[0]), length)
			}
		}
		ok(t, "set_name", p.CommSetName(dup, cString("neighbours")))
		ok(t, "name", p.CommGetName(dup, &name[0], &length))
		if goString(&name[0]) != "neighbours" {
			t.Error(goString(&name[0]))
		}
	})
}

func TestCommErrors(t *testing.T) {
	ranks(t, 2, func(t *testing.T, p *Process) {
		ok(t, "set", p.CommSetErrhandler(CommWorld, ErrorsReturn))
		ok(t, "set", p.CommSetErrhandler(CommSelf, ErrorsReturn))
		var dup, c, sub Comm
		var n int32
		var outside, world Group
		ok(t, "dup", p.CommDup(CommWorld, &dup))
		freed := dup
		ok(t, "free", p.CommFree(&dup))
		again := freed
		ok(t, "group", p.CommGroup(CommWorld, &world))
		zero := []int32{0}
		ok(t, "incl", p.GroupIncl(world, 1, &zero[0], &outside))
		ok(t, "split", p.CommSplit(CommWorld, int32(rankOf(p)), 0, &sub))
		world2, self := CommWorld, CommSelf
		type test struct{ got, want Code }
		tests := map[string]test{
			"the size of a freed communicator": {p.CommSize(freed, &n), ErrComm},
			"the size of a group":              {p.CommSize(Comm(world), &n), ErrComm},
			"the size of nonsense":             {p.CommSize(0x123456789abc, &n), ErrComm},
			"freed twice":                      {p.CommFree(&again), ErrComm},
			"the world freed":                  {p.CommFree(&world2), ErrComm},
			"self freed":                       {p.CommFree(&self), ErrComm},
			"null freed":                       {p.CommFree(&dup), ErrComm},
			"a negative color":                 {p.CommSplit(CommWorld, -5, 0, &c), ErrArg},
			"a strange kind of split":          {p.CommSplitType(CommWorld, 5, 0, InfoNull, &c), ErrArg},
			"a freed group":                    {p.CommCreate(CommWorld, GroupNull, &c), ErrGroup},
			"a negative tag":                   {p.CommCreateGroup(CommWorld, outside, -1, &c), ErrTag},
			"a strange info object":            {p.CommDupWithInfo(CommWorld, Info(CommWorld), &c), ErrInfo},
			"the remote size":                  {p.CommRemoteSize(CommWorld, &n), ErrComm},
			"no place for the parent":          {p.CommGetParent(nil), ErrArg},
		}
		if rankOf(p) == 1 {
			one := []int32{0, 1}
			ok(t, "incl", p.GroupIncl(world, 2, &one[0], &outside))
			tests["a group with others"] = test{p.CommCreate(sub, outside, &c), ErrGroup}
		}
		for what, test := range tests {
			if test.got != test.want {
				t.Errorf("%s: %d, want %d", what, test.got, test.want)
			}
		}
		ok(t, "parent", p.CommGetParent(&c))
		ok(t, "inter", p.CommTestInter(CommWorld, &n))
		if c != CommNull || n != 0 {
			t.Errorf("parent %#x, inter %d", c, n)
		}
	})
}

// The error message names the communicator, also by a name that the program gave it.
func TestNamesInMessages(t *testing.T) {
	var mu sync.Mutex
	var said []string
	expectAbort(t, func(code int, why string) {
		mu.Lock()
		defer mu.Unlock()
		said = append(said, why)
	})
	ranks(t, 1, func(t *testing.T, p *Process) {
		var c Comm
		ok(t, "dup", p.CommDup(CommSelf, &c))
		ok(t, "set_name", p.CommSetName(c, cString("the row")))
		p.CommSplit(c, -7, 0, &c)
	})
	const want = "MPI_Comm_split on the row, rank 0: the color is -7: neither 0 or more nor MPI_UNDEFINED (MPI_ERR_ARG)"
	if len(said) != 1 || said[0] != want {
		t.Errorf("said %q", said)
	}
}

// Contexts stay open while operations use them, and close when the last has ended.
func TestRetain(t *testing.T) {
	ranks(t, 1, func(t *testing.T, p *Process) {
		var h Comm
		ok(t, "dup", p.CommDup(CommSelf, &h))
		c := p.communicator(h)
		c.retain()
		ok(t, "free", p.CommFree(&h))
		if err := c.comm.Send([]byte{1}, 0, 0); err != nil {
			t.Errorf("freed under an operation: %v", err)
		}
		c.release()
		if err := c.comm.Send([]byte{1}, 0, 0); err == nil {
			t.Error("never freed")
		}
	})
}
