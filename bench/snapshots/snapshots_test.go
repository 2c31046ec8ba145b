package snapshots

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A launcher that is a script: what it reports is read, and what can't be a measurement is refused.
func TestRun(t *testing.T) {
	snapshot := func(held string) string {
		return `{"held_s":` + held + `,"stood_s":0.1,"took_s":0.9,"bytes":4194400,"changed_bytes":4096,"copied_bytes":0}`
	}
	back := `"rollbacks":[{"snapshot":2,"took_s":0.1,"restored_s":0.5}]`
	three := strings.Join([]string{snapshot("0.4"), snapshot("0.3"), snapshot("0.2")}, ",")
	for _, x := range []struct{ name, report, end, want string }{
		{"good", `{"snapshots":[` + three + `],` + back + `}`, "", ""},
		{"it never went back", `{"snapshots":[` + three + `]}`, "", "hasn't gone back"},
		{"it went back to the beginning", `{"snapshots":[` + three + `],"rollbacks":[{"snapshot":0,"restored_s":1}]}`, "", "hasn't gone back"},
		{"only those that write all", `{"snapshots":[` + snapshot("0.4") + `],` + back + `}`, "", "1 snapshots were taken"},
		{"held for less than it stood", `{"snapshots":[` + three + `,` + snapshot("0.05") + `],` + back + `}`, "", "can't be"},
		{"started again after it went on", `{"snapshots":[` + three + `],"rollbacks":[{"snapshot":2,"took_s":2,"restored_s":1}]}`, "", "can't be"},
		{"no report", `{`, "", "JSON"},
		{"wrong state", ``, "echo rank 1: page 3 >&2; exit 4", "exit status 4: rank 1: page 3"},
	} {
		t.Run(x.name, func(t *testing.T) {
			dir := t.TempDir()
			launcher := filepath.Join(dir, "banyan")
			text := "#!/bin/sh\n[ \"$1 $2 $3 $4\" = 'run -n 2 --rollback' ] || exit 8\ncat >" + dir + "/prog-report.json <<'E'\n" + x.report + "\nE\n" + x.end + "\n"
			if err := os.WriteFile(launcher, []byte(text), 0o755); err != nil {
				t.Fatal(err)
			}
			b := Bench{Launcher: launcher, Ranks: 2, Every: time.Second, Last: 4 * time.Second}
			j, err := b.Run(context.Background(), filepath.Join(dir, "prog"), State{MiB: 2, Percent: 1})
			if x.want != "" {
				if err == nil || !strings.Contains(err.Error(), x.want) {
					t.Errorf("%v, want %q", err, x.want)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if len(j.First) != 2 || len(j.Later) != 1 || j.Later[0].Held != 0.2 || j.Again != 0.1 || j.Back != 0.5 {
				t.Errorf("%+v", j)
			}
		})
	}
}
