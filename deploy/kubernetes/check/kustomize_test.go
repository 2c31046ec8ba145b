package check

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	core "k8s.io/api/core/v1"
)

// kustomize makes the objects that "kubectl apply -k" would send, with a key of the test's.
func kustomize(t *testing.T, folder string) []object {
	t.Helper()
	kubectl, err := exec.LookPath("kubectl")
	if err != nil {
		t.Skip("kubectl isn't installed")
	}
	dir := filepath.Join(t.TempDir(), folder)
	if err := os.CopyFS(dir, os.DirFS(filepath.Join("..", folder))); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "key"), []byte(strings.Repeat("5a", 32)+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(kubectl, "kustomize", dir)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	objects, err := decode("kustomize "+folder, out)
	if err != nil {
		t.Fatal(err)
	}
	return objects
}

// kustomize reaches each image and each use of the Secret, also in objects whose types it doesn't
// know.
func TestKustomize(t *testing.T) {
	for _, folder := range folders {
		t.Run(folder, func(t *testing.T) {
			objects := kustomize(t, folder)
			secret := ""
			for _, o := range objects {
				if s, is := o.value.(*core.Secret); is {
					secret = s.Name
					if len(s.Data["key"]) != 65 || s.Immutable == nil {
						t.Errorf("the Secret has %d bytes of key", len(s.Data["key"]))
					}
				}
			}
			for _, o := range objects {
				for _, p := range pods(o) {
					for _, c := range append(p.spec.InitContainers, p.spec.Containers...) {
						if c.Image != "registry.example.com/heat:1" {
							t.Errorf("%s: container %s runs %s", p.at, c.Name, c.Image)
						}
					}
					for _, v := range p.spec.Volumes {
						if v.Secret != nil && v.Secret.SecretName != secret {
							t.Errorf("%s mounts the Secret %s, not %s", p.at, v.Secret.SecretName, secret)
						}
					}
				}
			}
		})
	}
}

// A JobSet has the pods of the two Jobs, but for their names.
func TestJobSetIsTheJob(t *testing.T) {
	templates := func(folder string) map[string]core.PodSpec {
		all := map[string]core.PodSpec{}
		for _, o := range manifests(t, folder) {
			for _, p := range pods(o) {
				for i, c := range p.spec.Containers {
					for k, e := range c.Env {
						p.spec.Containers[i].Env[k].Value = strings.Replace(e.Value, "banyan-console-0-0", "console-0", 1)
					}
				}
				p.spec.Subdomain = "" // the controller sets it
				all[p.spec.Containers[0].Name] = p.spec
			}
		}
		return all
	}
	jobs, set := templates("job"), templates("jobset")
	for name, spec := range jobs {
		if want, got := spec.String(), set[name]; got.String() != want {
			t.Errorf("%s: in the JobSet it is\n%s\nnot\n%s", name, got.String(), want)
		}
	}
	if len(jobs) != 2 || len(set) != 2 {
		t.Errorf("%d jobs, %d in the JobSet", len(jobs), len(set))
	}
}
