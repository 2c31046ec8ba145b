package published

import (
	"go/doc/comment"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// module is the path under which the test publishes.
const module = "example.com/trees/banyan"

// publish runs the script.
func publish(t *testing.T, args ...string) (string, error) {
	t.Helper()
	out, err := exec.Command("../../../scripts/publish.sh", args...).CombinedOutput()
	return string(out), err
}

// published is the tree that is published.
func published(t *testing.T) string {
	t.Helper()
	tree := filepath.Join(t.TempDir(), "tree")
	if out, err := publish(t, module, tree); err != nil {
		t.Fatalf("scripts/publish.sh: %v\n%s", err, out)
	}
	return tree
}

// user runs commands of a user, who has no other modules than the proxy's and those that this
// module asks for, and no workspace.
type user struct {
	t   *testing.T
	dir string
	env []string
}

func newUser(t *testing.T, proxy string) user {
	t.Helper()
	cache, err := exec.Command("go", "env", "GOMODCACHE").Output()
	if err != nil {
		t.Fatal(err)
	}
	others := "file://" + filepath.Join(strings.TrimSpace(string(cache)), "cache", "download")
	// With the flags of this test the standard library is compiled already.
	env := append(os.Environ(), "GOPROXY=file://"+proxy+","+others+",off", "GOMODCACHE="+t.TempDir(), "GOSUMDB=off", "GOWORK=off",
		"GOFLAGS="+os.Getenv("GOFLAGS")+" -modcacherw", "GOTOOLCHAIN=local", "CGO_ENABLED=0")
	return user{t, t.TempDir(), env}
}

func (u user) run(name string, args ...string) string {
	u.t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Env = u.dir, u.env
	out, err := cmd.CombinedOutput()
	if err != nil {
		u.t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
	return string(out)
}

func (u user) write(name, text string) {
	u.t.Helper()
	if err := os.WriteFile(filepath.Join(u.dir, name), []byte(text), 0o644); err != nil {
		u.t.Fatal(err)
	}
}

// firstProgram is the program with which a package's documentation opens.
func firstProgram(t *testing.T, file string) string {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments|parser.PackageClauseOnly)
	if err != nil {
		t.Fatal(err)
	}
	var p comment.Parser
	for _, b := range p.Parse(f.Doc.Text()).Content {
		if code, is := b.(*comment.Code); is {
			return code.Text
		}
	}
	t.Fatalf("%s has no program", file)
	return ""
}

// watcher is a program that uses package group.
const watcher = `package main

import (
	"context"
	"fmt"
	"net/http/httptest"
	"os"
	"time"

	"` + module + `/group"
	"` + module + `/group/status"
)

func main() {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	g, err := group.Join(ctx, group.Config{Name: "one", Secret: []byte("a secret of 16 bytes or more")})
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	page := httptest.NewRecorder()
	status.Handler(g).ServeHTTP(page, httptest.NewRequest("GET", "/", nil))
	fmt.Println("a member, and its page has", page.Code)
	if err := g.Leave(ctx); err != nil {
		fmt.Println(err)
	}
	g.Close()
}
`

func TestPublished(t *testing.T) {
	tree := published(t)
	t.Run("program", func(t *testing.T) { tryProgram(t, tree) })
	t.Run("names", func(t *testing.T) { lookAtNames(t, tree) })
}

// tryProgram is a user who gets the module by its path, and builds and runs a program with each
// package.
func tryProgram(t *testing.T, tree string) {
	proxy := t.TempDir()
	if err := Serve(proxy, module, tree); err != nil {
		t.Fatal(err)
	}
	program := firstProgram(t, filepath.Join(tree, "mpi", "mpi.go"))
	u := newUser(t, proxy)
	u.run("go", "mod", "init", "users.example/first")
	u.write("main.go", program)
	u.run("go", "get", module+"@latest")
	u.run("go", "mod", "tidy")
	u.run("go", "build", "-o", "first", ".")
	if got, want := u.run(filepath.Join(u.dir, "first")), "rank 0 of 1: the sum of all ranks is 0\n"; got != want {
		t.Errorf("it prints %q, want %q", got, want)
	}
	var modules []string
	for line := range strings.Lines(u.run("go", "version", "-m", "first")) {
		if f := strings.Fields(line); len(f) > 1 && f[0] == "dep" {
			modules = append(modules, f[1])
		}
	}
	if !slices.Equal(modules, []string{module, "golang.org/x/sys"}) {
		t.Errorf("it is made of the modules %q", modules)
	}
	u.write("main.go", watcher)
	u.run("go", "mod", "tidy")
	u.run("go", "build", "-o", "watcher", ".")
	if got := u.run(filepath.Join(u.dir, "watcher")); !strings.Contains(got, "a member, and its page has 200") {
		t.Errorf("the watcher prints %q", got)
	}
}

// lookAtNames looks for the module's name in this tree: no import, comment or document has it.
func lookAtNames(t *testing.T, tree string) {
	old := regexp.MustCompile(`(^|[^A-Za-z0-9_/.~-])banyan/(mpi|group|internal|capi|cmd|examples)\b|@v0\.0\.0 -replace`)
	imports, documents := 0, 0
	err := filepath.WalkDir(tree, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		if found := old.Find(text); found != nil {
			t.Errorf("%s has %q", name, found)
		}
		switch filepath.Ext(name) {
		case ".md":
			documents++
		case ".go":
			f, err := parser.ParseFile(token.NewFileSet(), name, text, parser.ImportsOnly)
			if err != nil {
				return err
			}
			for _, i := range f.Imports {
				path, err := strconv.Unquote(i.Path.Value)
				switch first, _, _ := strings.Cut(path, "/"); {
				case err != nil || first == "banyan":
					t.Errorf("%s imports %s", name, i.Path.Value)
				case strings.HasPrefix(path, module+"/"):
					imports++
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range []string{"workqueue/queue.go", "shards/shards.go", "leader/statefulset.yaml"} { // docs name them
		if _, err := os.Stat(filepath.Join(tree, "examples", x)); err != nil {
			t.Error(err)
		}
	}
	if imports < 100 || documents < 10 {
		t.Errorf("%d imports and %d documents were looked at", imports, documents)
	}
	readme, err := os.ReadFile(filepath.Join(tree, "README.md"))
	if err != nil || !strings.Contains(string(readme), "go get "+module+"@latest && go mod tidy") {
		t.Errorf("README.md doesn't say how to get the module: %v", err)
	}
}

// What can't be published is refused, with a reason.
func TestBadPaths(t *testing.T) {
	full := t.TempDir()
	if err := os.WriteFile(filepath.Join(full, "file"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ path, dir, text string }{
		{"banyan", filepath.Join(full, "new"), "begins with a host"},
		{"Example.com/x y", filepath.Join(full, "new"), "begins with a host"},
		{module + "/v2", filepath.Join(full, "new"), "major version"},
		{module, full, "isn't empty"},
	} {
		out, err := publish(t, c.path, c.dir)
		if err == nil || !strings.Contains(out, c.text) {
			t.Errorf("%s: %v, %s", c.path, err, out)
		}
		if _, err := os.Stat(filepath.Join(full, "new")); err == nil {
			t.Errorf("%s: something was made", c.path)
		}
	}
	if out, err := publish(t); err == nil || !strings.HasPrefix(out, "usage: ") {
		t.Errorf("without arguments: %v, %s", err, out)
	}
	if err := Serve(t.TempDir(), "example.com/Trees", full); err == nil {
		t.Error("a path with capitals is served")
	}
}
