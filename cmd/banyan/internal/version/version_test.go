package version

import (
	"runtime"
	"runtime/debug"
	"testing"
)

func TestVersion(t *testing.T) {
	platform := " " + runtime.GOOS + "/" + runtime.GOARCH
	for _, x := range []struct {
		info *debug.BuildInfo
		want string
	}{
		{&debug.BuildInfo{GoVersion: "go1.26.0"}, "Banyan devel\ncommit unknown\ngo1.26.0" + platform},
		{&debug.BuildInfo{GoVersion: "go1.26.0", Main: debug.Module{Version: "(devel)"}}, "Banyan devel\ncommit unknown\ngo1.26.0" + platform},
		{&debug.BuildInfo{
			GoVersion: "go1.27.1", Main: debug.Module{Version: "v1.2.3"},
			Settings: []debug.BuildSetting{{Key: "vcs.revision", Value: "13b9beb"}, {Key: "vcs.time", Value: "2026-11-22T16:56:31Z"}, {Key: "vcs.modified", Value: "true"}},
		}, "Banyan v1.2.3\ncommit 13b9beb of 2026-11-22T16:56:31Z, modified\ngo1.27.1" + platform},
		{&debug.BuildInfo{
			GoVersion: "go1.27.1",
			Settings:  []debug.BuildSetting{{Key: "vcs.revision", Value: "13b9beb"}, {Key: "vcs.modified", Value: "false"}},
		}, "Banyan devel\ncommit 13b9beb\ngo1.27.1" + platform},
	} {
		if got := buildOf(x.info).String(); got != x.want {
			t.Errorf("%+v: %q, want %q", x.info, got, x.want)
		}
	}
	if b := This(); b.commit == "" || b.golang != runtime.Version()+platform {
		t.Errorf("this build: %+v", b)
	}
}
