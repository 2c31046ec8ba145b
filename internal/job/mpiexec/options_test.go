package mpiexec

import (
	"reflect"
	"strings"
	"testing"
)

func known(name string) (value, ok bool) {
	switch name {
	case "ranks", "replicas", "timeout", "bind-to", "wdir":
		return true, true
	case "label", "debug", "help":
		return false, true
	}
	return false, false
}

func TestTranslate(t *testing.T) {
	for _, tc := range []struct{ in, want, remarks string }{
		{"-n 4 ./a -n 5", "--ranks=4 ./a -n 5", ""},
		{"-np 4 ./a", "--ranks=4 ./a", ""},
		{"--np 4 ./a", "--ranks=4 ./a", ""},
		{"-n4 ./a", "--ranks=4 ./a", ""},
		{"--ranks 4 ./a", "--ranks=4 ./a", ""},
		{"-replicas 2 -debug ./a", "--replicas=2 --debug ./a", ""},
		{"--replicas=2 ./a", "--replicas=2 ./a", ""},
		{"-env A 1 -genv B=2 --env=C=3 -x D ./a", "--env=A=1 --env=B=2 --env=C=3 --env=D ./a", ""},
		{"-wd /tmp -l -bind-to core --timeout 3 ./a", "--wdir=/tmp --label --bind-to=core --timeout=3 ./a", ""},
		{"-H a:2,b -f hosts ./a", "--host=a:2,b --hostfile=hosts ./a", ""},
		{"--oversubscribe --allow-run-as-root ./a", "./a", ""},
		{"--mca btl self ./a", "./a", "--mca btl self has no meaning here"},
		{"--prefix=/usr -v ./a", "./a", "--prefix=/usr has no meaning here|-v has no meaning here"},
		{"-ppn 2 ./a", "--ranks=2 ./a", ""},
		{"-N 2 -n 4 ./a", "--ranks=4 ./a", ""},
		{"-host a:2 -N 1 ./a", "--host=a:2 ./a", ""},
		{"-n 2 -- -odd", "--ranks=2 -- -odd", ""},
		{"-n 2 -", "--ranks=2 -", ""},
		{"", "", ""},
	} {
		got, remarks, err := Translate(strings.Fields(tc.in), known)
		if err != nil || strings.Join(got, " ") != tc.want || strings.Join(remarks, "|") != tc.remarks {
			t.Errorf("%q: %q, %q, %v", tc.in, got, remarks, err)
		}
	}
	for in, want := range map[string]string{"--nonsense ./a": "unknown option --nonsense", "-np": "wants a value", "-env A": "a name and a value", "-env": "wants a value",
		"--mca x": "wants 2", "--ranks": "wants a value"} {
		if _, _, err := Translate(strings.Fields(in), known); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", in, err)
		}
	}
}

func TestSegments(t *testing.T) {
	got := Segments(strings.Fields("-n 1 ./a x : -n 2 ./b"))
	if want := [][]string{{"-n", "1", "./a", "x"}, {"-n", "2", "./b"}}; !reflect.DeepEqual(got, want) {
		t.Error(got)
	}
	if got := Segments(nil); len(got) != 1 || len(got[0]) != 0 {
		t.Error(got)
	}
}
