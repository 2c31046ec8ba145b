package survival

import (
	"fmt"
	"math/rand/v2"
	"os/exec"
	"strings"
	"testing"

	"banyan/internal/testing/cprogram"
)

// TestRollsBack kills ranks of jobs without replicas at random times. The programs have all state
// that there may be at a safe point, messages under way and input among it, or go from a small
// collective to the next. Their output is that of an undisturbed run to the byte.
func TestRollsBack(t *testing.T) {
	heat := cprogram.Build(t, "mpicc", "../../../examples/heat/heat.c", "-O2", "-lm")
	whole := cprogram.Build(t, "mpicc", "../testdata/heal.c", "-O2")
	fortran := ""
	if _, err := exec.LookPath("gfortran"); err == nil {
		fortran = cprogram.Build(t, "mpifort", "../../../fortran/testdata/heal.f90", "-O2")
	}
	for _, tc := range []struct {
		name, program string
		calm, args    []string // of the undisturbed run, and of the others
		flags         []string
		replicas      bool
	}{
		{"heat", heat, []string{"125", "1e-7"}, []string{"125", "1e-7"}, nil, false},
		{"whole", whole, []string{"2000", "0"}, []string{"2000", "300"}, nil, false},
		{"tcp", whole, []string{"1000", "0"}, []string{"1000", "300"}, []string{"--transport", "tcp"}, false},
		{"fortran", fortran, []string{"1500", "0"}, []string{"1500", "500"}, nil, false},
		// The last replica of a rank takes the job back; one that has a sibling doesn't.
		{"heat with replicas", heat, []string{"125", "1e-7"}, []string{"125", "1e-7"}, []string{"--replicas", "2"}, true},
		{"whole with replicas", whole, []string{"1000", "0"}, []string{"1000", "300"}, []string{"--replicas", "2", "--heal"}, true},
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
			lots := rand.New(rand.NewPCG(uint64(len(tc.name)), 7))
			var plan []string
			for i := range 3 {
				rank, at := lots.IntN(3), 250+lots.IntN(800)
				plan = append(plan, fmt.Sprintf("kill rank=%d at=%dms", rank, at))
				if tc.replicas && i > 0 {
					plan = append(plan, fmt.Sprintf("kill rank=%d replica=1 at=%dms", rank, at+lots.IntN(2)*lots.IntN(30)))
				}
			}
			args := append([]string{"run", "-n", "3", "--rollback", "--snapshot-every", "100ms", "--fault", strings.Join(plan, ";")}, tc.flags...)
			o := cprogram.RunOn(t, numbers(), cprogram.Tool("banyan"), append(append(args, tc.program), tc.args...)...)
			if o.Code != 0 || byRank3(o.Stdout) != byRank3(want.Stdout) || !strings.Contains(o.Stderr, "goes back to snapshot") || strings.Contains(o.Stderr, "other bytes to stdout") {
				t.Errorf("%v: exit code %d\nstderr: %.3000s\nthe output is the same up to byte %d of %d", plan, o.Code, o.Stderr,
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
