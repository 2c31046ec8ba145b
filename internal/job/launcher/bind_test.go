package launcher

import (
	"reflect"
	"strings"
	"testing"

	"banyan/internal/layout"
)

func TestDivideCores(t *testing.T) {
	for _, tc := range []struct {
		bind   string
		cores  []int
		layout layout.Layout
		want   coreSets
	}{
		{BindAuto, []int{0, 1}, layout.Uniform(2, 1), coreSets{{0}, {1}}},
		{BindAuto, []int{2, 3, 5, 7, 8}, layout.Uniform(2, 1), coreSets{{2, 3}, {5, 7, 8}}},
		{BindAuto, []int{0, 1, 2, 3}, layout.Uniform(3, 1), coreSets{{0}, {1}, {2, 3}}},
		{BindAuto, []int{0, 1}, layout.Uniform(3, 1), nil},
		{BindAuto, []int{0, 1}, layout.Uniform(1, 1), nil},
		{BindCore, []int{0, 2}, layout.Uniform(3, 1), coreSets{{0}, {2}, {0}}},
		{BindCore, []int{0, 2}, layout.Uniform(1, 1), coreSets{{0}}},
		{"2,0", []int{0, 2, 5}, layout.Uniform(3, 1), coreSets{{2}, {0}, {2}}},
		// No two replicas of a rank share a core, if possible, and all cores have the same number.
		{BindCore, []int{0, 1}, layout.Uniform(2, 2), coreSets{{0}, {1}, {1}, {0}}},
		{BindCore, []int{0, 1}, layout.Uniform(3, 2), coreSets{{0}, {1}, {0}, {1}, {0}, {1}}},
		{BindCore, []int{0, 1}, layout.Uniform(1, 3), coreSets{{0}, {1}, {0}}},
		{BindCore, []int{4, 5, 6}, layout.Uniform(3, 2), coreSets{{4}, {5}, {6}, {5}, {6}, {4}}},
		{BindCore, []int{0, 1}, layout.Partial([]int{1, 2, 1, 2}), coreSets{{0}, {1}, {0}, {1}, {0}, {1}}},
	} {
		if got := divideCores(tc.bind, tc.cores, ranksOf(tc.layout), true); !reflect.DeepEqual(got, tc.want) {
			t.Errorf("%s, %v, %v: %v, want %v", tc.bind, tc.cores, tc.layout, got, tc.want)
		}
	}
	// With the mirror protocol they needn't be apart.
	if got, want := divideCores(BindCore, []int{0, 1}, ranksOf(layout.Uniform(2, 2)), false), (coreSets{{0}, {1}, {0}, {1}}); !reflect.DeepEqual(got, want) {
		t.Errorf("not apart: %v, want %v", got, want)
	}
}

// Each process runs on one core, in turn.
func TestBindToCores(t *testing.T) {
	for _, line := range whereRanksRun(t, 3, BindCore) {
		if strings.ContainsAny(line, ",-") {
			t.Errorf("a process may run on more than a core: %q", line)
		}
	}
}

// By default processes are kept apart if there are enough cores, and not bound otherwise.
func TestBindByDefault(t *testing.T) {
	free := whereRanksRun(t, 1, BindNone)[0]
	if got := whereRanksRun(t, 1, ""); got[0] != free {
		t.Errorf("one process: %q, not %q", got, free)
	}
	if free != "0-1" {
		t.Skip("the rest is for two cores")
	}
	for _, got := range whereRanksRun(t, 3, "") {
		if got != free {
			t.Errorf("three processes on two cores: %q", got)
		}
	}
	if got := whereRanksRun(t, 2, ""); !(got[0] == "0" && got[1] == "1" || got[0] == "1" && got[1] == "0") {
		t.Errorf("two processes on two cores: %q", got)
	}
}

// whereRanksRun is the list of cores of each rank, in any order of the ranks.
func whereRanksRun(t *testing.T, ranks int, bind string) []string {
	t.Helper()
	o := run(t, Config{Ranks: ranks, Program: "sed", Bind: bind, Args: []string{"-n", `s/^Cpus_allowed_list:\t//p`, "/proc/self/status"}})
	lines := strings.Split(strings.TrimSpace(o.stdout), "\n")
	if len(lines) != ranks {
		t.Fatalf("%d ranks have told %q", ranks, lines)
	}
	return lines
}
