package job

import (
	"slices"
	"strings"
	"testing"
)

func TestDegrees(t *testing.T) {
	for _, tc := range []struct {
		replicas, replicate string
		each                []int
		all                 int
	}{
		{"1", "", nil, 1},
		{"3", "", nil, 3},
		{"0", "", nil, 0}, // the launcher says what is wrong with it
		{"2", "0-1,3", []int{2, 2, 1, 2}, 0},
		{"2", "3", []int{1, 1, 1, 2}, 0},
		{"0-1:3,3:2", "", []int{3, 3, 1, 2}, 0},
	} {
		each, all, err := degrees(tc.replicas, tc.replicate, 4)
		if err != nil || !slices.Equal(each, tc.each) || all != tc.all {
			t.Errorf("--replicas %s --replicate %s: %v, %d, %v", tc.replicas, tc.replicate, each, all, err)
		}
	}
	for _, tc := range []struct{ replicas, replicate, want string }{
		{"x", "", "want a number"},
		{"", "", "want a number"},
		{"1", "0", "doesn't say how many"},
		{"2", "0-4", "rank 4 is not among 0…3"},
		{"2", "2-1", `"2-1": want a rank`},
		{"2", "0-2,1", "rank 1 is named twice"},
		{"2", "0,,1", `"": want a rank`},
		{"2", "-1", "want a rank"},
		{"0:2", "1", "already"},
		{"0-1", "", "want a number"},
		{"0:2,1", "", `"1": want RANKS:NUMBER`},
		{"0:x", "", "want RANKS:NUMBER"},
		{"5:2", "", "rank 5"},
	} {
		if each, all, err := degrees(tc.replicas, tc.replicate, 4); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("--replicas %s --replicate %s: %v, %d, %v, want an error with %q", tc.replicas, tc.replicate, each, all, err, tc.want)
		}
	}
}
