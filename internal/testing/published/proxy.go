package published

import (
	"archive/zip"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// Version is the version under which Serve has a module.
const Version = "v0.1.0"

// Serve makes a proxy of files (GOPROXY=file://proxy) that has the module of a tree. See
// https://go.dev/ref/mod#goproxy-protocol for its files.
func Serve(proxy, module, tree string) error {
	if strings.ToLower(module) != module {
		return fmt.Errorf("the path %s has capitals, which the names of a proxy's files would have to escape", module)
	}
	dir := filepath.Join(proxy, filepath.FromSlash(module), "@v")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	mod, err := os.ReadFile(filepath.Join(tree, "go.mod"))
	if err != nil {
		return err
	}
	for name, text := range map[string]string{
		"list":            Version + "\n",
		Version + ".mod":  string(mod),
		Version + ".info": fmt.Sprintf(`{"Version": %q, "Time": "2026-01-01T00:00:00Z"}`, Version),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			return err
		}
	}
	f, err := os.Create(filepath.Join(dir, Version+".zip"))
	if err != nil {
		return err
	}
	defer f.Close()
	if err := pack(f, module+"@"+Version, tree); err != nil {
		return err
	}
	return f.Close()
}

// pack writes the files of a tree into a zip, below a prefix.
func pack(f *os.File, prefix, tree string) error {
	z := zip.NewWriter(f)
	files := os.DirFS(tree)
	err := fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := fs.ReadFile(files, name)
		if err != nil {
			return err
		}
		w, err := z.Create(path.Join(prefix, name))
		if err != nil {
			return err
		}
		_, err = w.Write(text)
		return err
	})
	if err != nil {
		return err
	}
	return z.Close()
}
