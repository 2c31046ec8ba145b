package job

import (
	"debug/elf"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"banyan/internal/job/launcher"
	"banyan/internal/job/starter"
	"banyan/internal/job/starter/stage"
)

// needed are the files that must be the same on all hosts: the programs, and if files are sent,
// those that the user names, and libraries of the programs' own. Programs that aren't here are the
// launcher's to refuse.
func (f *hostFlags) needed(parts []launcher.Part) (files []starter.File, err error) {
	f.stage = f.stage || len(f.files) > 0
	seen := make(map[string]bool)
	add := func(path, from string, role starter.Role) error {
		if seen[path] {
			return nil
		}
		seen[path] = true
		info, err := os.Stat(from)
		if err != nil {
			return err
		}
		if !info.Mode().IsRegular() {
			return fmt.Errorf("--stage-file %s: this is no file", path)
		}
		sum, err := stage.Sum(from)
		files = append(files, starter.File{Path: path, Sum: sum, Mode: info.Mode().Perm(), Role: role})
		return err
	}
	for _, p := range parts {
		name := p.Program
		if p.Dir != "" && strings.Contains(name, "/") && !filepath.IsAbs(name) {
			name = filepath.Join(p.Dir, name)
		}
		path, err := exec.LookPath(name)
		if err != nil {
			continue
		}
		if err := add(path, path, starter.Program); err != nil {
			return nil, err
		}
		if !f.stage {
			continue
		}
		for _, library := range libraries(path) {
			if err := add(library, library, starter.Library); err != nil {
				return nil, err
			}
		}
	}
	for _, name := range f.files {
		if !filepath.IsLocal(name) {
			return nil, fmt.Errorf("--stage-file %s: want a file in this directory, or below, by a relative path", name)
		}
		if err := add(filepath.Clean(name), name, starter.Companion); err != nil {
			return nil, fmt.Errorf("--stage-file: %w", err)
		}
	}
	return files, nil
}

// libraries are the shared libraries that a program finds in directories of its own (its run path),
// such as Banyan's for programs in C. Those of the system are each host's.
func libraries(program string) (paths []string) {
	file, err := elf.Open(program)
	if err != nil {
		return nil
	}
	defer file.Close()
	var directories []string
	for _, tag := range []elf.DynTag{elf.DT_RUNPATH, elf.DT_RPATH} {
		all, _ := file.DynString(tag)
		for _, list := range all {
			for dir := range strings.SplitSeq(list, ":") {
				directories = append(directories, strings.ReplaceAll(strings.ReplaceAll(dir, "${ORIGIN}", "$ORIGIN"), "$ORIGIN", filepath.Dir(program)))
			}
		}
	}
	names, _ := file.ImportedLibraries()
	for _, name := range names {
		for _, dir := range directories {
			path, err := filepath.Abs(filepath.Join(dir, name))
			if info, e := os.Stat(path); err == nil && e == nil && info.Mode().IsRegular() {
				paths = append(paths, path)
				break
			}
		}
	}
	return paths
}
