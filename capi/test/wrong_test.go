package test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"banyan/internal/testing/cprogram"
)

// What "When something is wrong" in docs/guide/mpi.md says, point by point: each case begins with
// the words of the guide that it tries, and each point of the guide has a case here or is named
// with the test that it has elsewhere.
func TestGuideWhenSomethingIsWrong(t *testing.T) {
	program := cprogram.Compile(t, "wrong")
	cases := []struct {
		guide  string   // is said there
		flags  []string // of banyan run
		name   string
		code   int
		stderr string   // a regular expression, or several with & between; none: nothing is said
		stdout []string // lines that are printed, in any order
	}{
		{"**A wrong argument** ends the job, with a line that names the function, the communicator, the rank and the value", nil,
			"argument", 1, `(?m)MPI_Send on MPI_COMM_WORLD, rank 1: .*\b77\b.*\(MPI_ERR_RANK\)$`, nil},
		{"With `MPI_ERRORS_RETURN` the function returns the error's class", nil,
			"argument-returned", 0, "", []string{"rank 0: MPI_ERR_RANK", "rank 3: MPI_ERR_RANK"}},
		{"**A death** without replicas ends the job with a line that names the rank, its process and the signal", nil,
			"death", 137, `(?m)^banyan: rank 1 .*\(pid \d+\) died: signal 9 \(killed\)`, nil},
		{"operations that need the dead rank return an error (`MPIX_ERR_PROC_FAILED`), the others work, and `MPI_Bcast` still reaches every live rank", nil,
			"death-returned", 0, `rank 1 .*died: signal 9`, []string{"rank 0: MPIX_ERR_PROC_FAILED, broadcast 4711", "rank 2: MPIX_ERR_PROC_FAILED, broadcast 4711", "rank 3: 3 are left"}},
		{"**A death with replicas** is one line on stderr; the program doesn't notice", []string{"--replicas", "2", "--fault", "kill rank=1 at=send:50"},
			"ring", 0, `^banyan: rank 1 replica 0 .*died: .*\n$`, []string{"rank 0: 6", "rank 1: 6", "rank 2: 6", "rank 3: 6"}},
		{"`SIGSEGV` ends it as without MPI, core file included, and the launcher's exit code is 139", nil,
			"crash", 139, `rank 1 .*segmentation fault`, nil},
		{"Handlers that the program installs are kept", nil,
			"crash-handled", 3, `rank 1 .*exit code 3`, []string{"the program's own handler"}},
		{"`MPI_Recv on MPI_COMM_WORLD, rank 1: the message from rank 0 with tag 7 has 80 bytes, the receive buffer 40 (MPI_ERR_TRUNCATE)`", nil,
			"message", 1, `MPI_Recv on MPI_COMM_WORLD, rank 1: the message from rank 0 with tag 7 has 80 bytes, the receive buffer 40 \(MPI_ERR_TRUNCATE\)`, nil},
		{"A collective whose ranks disagree about a size says which rank sent how much", nil,
			"collective", 1, `MPI_Bcast on MPI_COMM_WORLD, rank 2: .*rank \d+ .*80 bytes`, nil},
		{"At the limit, each process is asked what it waits for, and the job ends with exit code 124", []string{"--timeout", "5"},
			"hang", 124, `^banyan: the job has taken longer than its limit of 5s\n&rank 0 \(pid \d+\) waits for a message from rank 1 with tag 5\n&` +
				`rank 1 \(pid \d+\) waits for rank 2 to receive 1000000 bytes with tag 7\n&rank 2 \(pid \d+\) waits in Barrier for a message from rank \d&` +
				`rank 3 \(pid \d+\) is in no function that waits`, nil},
		{"**Exit without `MPI_Finalize`** counts as a death", nil,
			"no-finalize", 1, `rank 1 .*without finalising`, nil},
		{"**A forked child** may do anything but call MPI: that is an error, not a hang", nil,
			"child", 0, `MPI_Barrier is called in pid \d+, a child of fork`, []string{"rank 0: the child's call failed", "rank 3: the child's call failed"}},
	}
	elsewhere := []string{ // TestNoFalseSuspicion in internal/job/launcher starves processes
		"**A machine with more to do than cores** may starve a process for seconds. On one host it isn't taken for dead",
	}

	document, err := os.ReadFile("../../docs/guide/mpi.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(document), "\n## When something is wrong\n")
	section, _, _ = strings.Cut(section, "\n## ")
	var points []string
	for _, p := range strings.Split(section, "\n- ")[1:] {
		points = append(points, strings.Join(strings.Fields(p), " "))
	}
	tried := make([]bool, len(points))
	said := func(words string) {
		for i, p := range points {
			if strings.Contains(p, words) {
				tried[i] = true
				return
			}
		}
		t.Errorf("the guide doesn't say %q", words)
	}
	for _, words := range elsewhere {
		said(words)
	}
	for _, c := range cases {
		said(c.guide)
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			args := append(append([]string{"run", "-n", "4"}, c.flags...), program, c.name)
			o := cprogram.Run(t, cprogram.Tool("banyan"), args...)
			if o.Code != c.code || c.stderr == "" && o.Stderr != "" {
				t.Errorf("want code %d: %v", c.code, o)
			}
			for said := range strings.SplitSeq(c.stderr, "&") {
				if !regexp.MustCompile(said).MatchString(o.Stderr) {
					t.Errorf("want %s: %v", said, o)
				}
			}
			for _, line := range c.stdout {
				if !strings.Contains("\n"+o.Stdout, "\n"+line+"\n") {
					t.Errorf("want the line %q: %v", line, o)
				}
			}
			o.NoTrace(t)
		})
	}
	for i, yes := range tried {
		if !yes {
			t.Errorf("the guide says what nothing tries here: %s", points[i])
		}
	}
	if len(points) < 9 {
		t.Errorf("only %d points", len(points))
	}
}
