package recovery

import (
	"fmt"
	"math/rand/v2"
	"os/exec"
	"strings"
	"testing"

	"banyan/internal/testing/cprogram"
)

// TestRollsBack kills ranks of jobs without replicas, and all replicas of a rank, shortly after
// safe points drawn by lot. The programs have all state that there may be at a safe point,
// messages under way and input among it, or go from a small collective to the next. Their output
// is that of an undisturbed run to the byte.
func TestRollsBack(t *testing.T) {
	heat := cprogram.Build(t, "mpicc", "../../../examples/heat/heat.c", append(strikesSafepoints(), "-O2", "-lm")...)
	whole := cprogram.Build(t, "mpicc", "../testdata/heal.c", append(strikesSafepoints(), "-O2")...)
	fortran := ""
	if _, err := exec.LookPath("gfortran"); err == nil {
		fortran = cprogram.Build(t, "mpifort", "../../../fortran/testdata/heal.f90", append(strikesSafepoints(), "-O2")...)
	}
	for _, tc := range []struct {
		name, program string
		calm, args    []string // of the undisturbed run, and of the others
		flags         []string
		safepoints    int // about so many come in a calm run
		replicas      bool
	}{
		{"heat", heat, []string{"125", "1e-7"}, []string{"125", "1e-7"}, nil, 2260, false},
		{"whole", whole, []string{"2000", "0"}, []string{"2000", "300"}, nil, 2000, false},
		{"tcp", whole, []string{"1000", "0"}, []string{"1000", "300"}, []string{"--transport", "tcp"}, 1000, false},
		{"fortran", fortran, []string{"1500", "0"}, []string{"1500", "500"}, nil, 1500, false},
		// The last replica of a rank takes the job back; one that has a sibling doesn't.
		{"heat with replicas", heat, []string{"125", "1e-7"}, []string{"125", "1e-7"}, []string{"--replicas", "2"}, 2260, true},
		{"whole with replicas", whole, []string{"2000", "0"}, []string{"2000", "300"}, []string{"--replicas", "2", "--heal"}, 2000, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			switch {
			case tc.program == "":
				t.Skip("there is no gfortran; scripts/tools.sh installs it")
			case testing.Short() && tc.name == "tcp":
				t.Skip("the others run over shared memory and take as long")
			}
			want := cprogram.RunOn(t, numbers(), cprogram.Tool("banyan"), append([]string{"run", "-n", "3", tc.program}, tc.calm...)...)
			if want.Code != 0 {
				t.Fatal(want)
			}
			// All processes count their safe points anew when the job goes back. So each death has
			// its own share of the program.
			lots := rand.New(rand.NewPCG(uint64(len(tc.name)), 7))
			var deaths []string
			kill := func(rank, replica, safepoint, microseconds int) {
				deaths = append(deaths, fmt.Sprintf("%d:%d:%d", replica*3+rank, safepoint, microseconds))
			}
			for i := range 3 {
				rank, at := lots.IntN(3), tc.safepoints/8+lots.IntN(tc.safepoints/10)
				kill(rank, 0, at, lots.IntN(1000))
				if tc.replicas && i > 0 {
					kill(rank, 1, at, lots.IntN(2)*lots.IntN(30_000))
				}
			}
			args := append([]string{"run", "-n", "3", "--rollback", "--snapshot-every", "50ms"}, tc.flags...)
			o := struck(t, deaths, numbers(), append(append(args, tc.program), tc.args...)...)
			if o.Code != 0 || byRank3(o.Stdout) != byRank3(want.Stdout) || !strings.Contains(o.Stderr, "goes back to snapshot") || strings.Contains(o.Stderr, "other bytes to stdout") {
				t.Errorf("%v: exit code %d\nstderr: %.3000s\nthe output is the same up to byte %d of %d", deaths, o.Code, o.Stderr,
					same(byRank3(o.Stdout), byRank3(want.Stdout)), len(want.Stdout))
			}
		})
	}
}

// byRank3 is byRank, or all of an output in which no line names a rank.
func byRank3(text string) string {
	if !strings.HasPrefix(text, "rank ") {
		return text
	}
	return byRank(text)
}
