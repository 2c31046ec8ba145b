// Package version tells of which release and commit a command is.
package version

import (
	"runtime"
	"runtime/debug"
	"strings"
)

// Build is what a command knows of how it was built.
type Build struct {
	version string // of the module: a release, a pseudo-version, or devel
	commit  string // with its time, as far as the build has recorded them; unknown if not
	golang  string // version and platform
}

// release and revision are the version and the commit of a build without git, which scripts/dist.sh
// makes, for the linker to set.
var release, revision string

// This reads what the Go command has recorded in this program. It records the commit when the
// command is built in a checkout with git, but not in tests.
func This() Build {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = &debug.BuildInfo{GoVersion: runtime.Version()}
	}
	b := buildOf(info)
	if release != "" {
		b.version, b.commit = release, revision
	}
	return b
}

func buildOf(info *debug.BuildInfo) Build {
	b := Build{version: strings.Trim(info.Main.Version, "()"), commit: "unknown", golang: info.GoVersion + " " + runtime.GOOS + "/" + runtime.GOARCH}
	if b.version == "" {
		b.version = "devel"
	}
	settings := make(map[string]string)
	for _, s := range info.Settings {
		settings[s.Key] = s.Value
	}
	if revision := settings["vcs.revision"]; revision != "" {
		b.commit = revision
		if at := settings["vcs.time"]; at != "" {
			b.commit += " of " + at
		}
		if settings["vcs.modified"] == "true" {
			b.commit += ", modified"
		}
	}
	return b
}

// Name is the version in one line.
func (b Build) Name() string { return "Banyan " + b.version }

// String is what --version prints.
func (b Build) String() string {
	return b.Name() + "\ncommit " + b.commit + "\n" + b.golang
}
