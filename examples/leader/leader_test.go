package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"banyan/group"
)

// Of three processes one writes. When the leader ends another one goes on, and one view has one
// writer. The lines of the views are in order: nobody writes for a view that is past.
func TestOneLeads(t *testing.T) {
	path := filepath.Join(t.TempDir(), "times")
	var all sync.WaitGroup
	defer all.Wait()
	var most atomic.Int32 // members that a leader had in its view
	ends := map[string]context.CancelFunc{}
	var seeds []string
	for i := range 3 {
		name := fmt.Sprint("n", i)
		cfg := group.Config{
			Group: "leader", Name: name, Secret: []byte("known to the members only"), Seeds: slices.Clone(seeds), Listen: fmt.Sprintf("127.77.%d.%d:7001", os.Getpid()%250+1, i+1),
			Logger: slog.New(slog.NewTextHandler(t.Output(), nil)), HeartbeatPeriod: 50 * time.Millisecond, HeartbeatTimeout: 5 * time.Second,
		}
		seeds = append(seeds, cfg.Listen)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		ends[name] = cancel
		write := writer(path, name)
		act := func(l *group.Lease) error {
			most.Store(max(most.Load(), int32(len(l.View.Members)))) // one process leads at a time
			return write(l)
		}
		all.Go(func() {
			if err := run(ctx, cfg, "", act); err != nil {
				t.Error(err)
			}
		})
	}
	writers := func() (names []string) {
		content, _ := os.ReadFile(path)
		last := ""
		by := map[string]string{} // view: writer
		for line := range strings.Lines(string(content)) {
			f := strings.Fields(line)
			if len(f) != 3 {
				t.Fatalf("a torn line: %q", line)
			}
			if name, known := by[f[2]]; known && (name != f[1] || last != f[2]) {
				t.Fatalf("view %s has two writers, or comes back:\n%s", f[2], content)
			}
			by[f[2]], last = f[1], f[2]
			if len(names) == 0 || names[len(names)-1] != f[1] {
				names = append(names, f[1])
			}
		}
		return names
	}
	// At first all three are members.
	for want := 1; want <= 3; want++ {
		deadline := time.Now().Add(20 * time.Second)
		for ; len(writers()) < want || want == 1 && most.Load() < 3; time.Sleep(5 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("the writers are %v, of %d members, want %d", writers(), most.Load(), want)
			}
		}
		names := writers()
		ends[names[len(names)-1]]()
	}
}

// A process whose lease has ended doesn't write.
func TestLateWriter(t *testing.T) {
	path := filepath.Join(t.TempDir(), "times")
	m, err := group.Join(t.Context(), group.Config{Name: "n", Secret: []byte("known to the members only"), HeartbeatPeriod: 10 * time.Millisecond, HeartbeatTimeout: 40 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	l, err := m.Lease(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	time.Sleep(time.Until(l.Deadline) + 10*time.Millisecond)
	if err := writer(path, "n")(l); err != nil {
		t.Fatal(err)
	}
	if content, err := os.ReadFile(path); err != nil || len(content) > 0 {
		t.Errorf("%q, %v", content, err)
	}
}

// The StatefulSet starts the program with flags that it has, and its names fit together.
func TestStatefulSet(t *testing.T) {
	f, err := os.Open("statefulset.yaml")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	type object struct {
		Kind     string
		Metadata struct{ Name string }
		Spec     struct {
			ClusterIP                string `yaml:"clusterIP"`
			PublishNotReadyAddresses bool   `yaml:"publishNotReadyAddresses"`
			ServiceName              string `yaml:"serviceName"`
			PodManagementPolicy      string `yaml:"podManagementPolicy"`
			Replicas                 int
			Template                 struct {
				Spec struct {
					Containers []struct {
						Args         []string
						VolumeMounts []struct{ Name, MountPath string } `yaml:"volumeMounts"`
					}
				}
			}
			VolumeClaimTemplates []struct{ Metadata struct{ Name string } } `yaml:"volumeClaimTemplates"`
		}
	}
	kinds := map[string]object{}
	for in := yaml.NewDecoder(f); ; {
		var o object
		if err := in.Decode(&o); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		kinds[o.Kind] = o
	}
	service, set := kinds["Service"], kinds["StatefulSet"]
	if service.Spec.ClusterIP != "None" || !service.Spec.PublishNotReadyAddresses || set.Spec.ServiceName != service.Metadata.Name || set.Spec.PodManagementPolicy != "Parallel" || len(set.Spec.Template.Spec.Containers) != 1 {
		t.Fatalf("%+v, %+v", service, set)
	}
	flags := flag.NewFlagSet("leader", flag.ContinueOnError)
	var cfg group.Config
	options(flags, &cfg)
	if err := flags.Parse(set.Spec.Template.Spec.Containers[0].Args); err != nil || flags.NArg() != 1 {
		t.Fatal(err, flags.Args())
	}
	if cfg.Expect != set.Spec.Replicas || !slices.Equal(cfg.Seeds, []string{service.Metadata.Name + ":7946"}) || cfg.Advertise != "$(POD_NAME)."+service.Metadata.Name+":7946" {
		t.Errorf("%+v", cfg)
	}
	mounts := set.Spec.Template.Spec.Containers[0].VolumeMounts
	if len(mounts) != 1 || !strings.HasPrefix(cfg.Dir, mounts[0].MountPath) || len(set.Spec.VolumeClaimTemplates) != 1 || set.Spec.VolumeClaimTemplates[0].Metadata.Name != mounts[0].Name {
		t.Errorf("the directory %s isn't on the volume: %+v", cfg.Dir, mounts)
	}
}
