package check

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	batch "k8s.io/api/batch/v1"
	core "k8s.io/api/core/v1"
)

// pod is a template of pods, with where it stands.
type pod struct {
	at   string
	spec core.PodSpec
	meta map[string]string // labels
	runs bool              // it runs ranks
	job  *batch.JobSpec    // nil: the MPI Operator starts the pods
}

// pods are the templates of pods in an object.
func pods(o object) []pod {
	ofJob := func(at string, j *batch.JobSpec) pod {
		runs := j.Template.Spec.Containers[0].Name == "agent"
		return pod{at, j.Template.Spec, j.Template.Labels, runs, j}
	}
	switch v := o.value.(type) {
	case *batch.Job:
		return []pod{ofJob(o.file, &v.Spec)}
	case *jobSet:
		var all []pod
		for i := range v.Spec.ReplicatedJobs {
			r := &v.Spec.ReplicatedJobs[i]
			all = append(all, ofJob(o.file+": "+r.Name, &r.Template.Spec))
		}
		return all
	case *mpiJob:
		launcher, worker := v.Spec.MPIReplicaSpecs.Launcher.Template, v.Spec.MPIReplicaSpecs.Worker.Template
		return []pod{
			{o.file + ": Launcher", launcher.Spec, launcher.Labels, false, nil},
			{o.file + ": Worker", worker.Spec, worker.Labels, true, nil},
		}
	}
	return nil
}

// everyPod calls f with each template of all manifests.
func everyPod(t *testing.T, f func(t *testing.T, p pod)) {
	n := 0
	for _, folder := range folders {
		for _, o := range manifests(t, folder) {
			for _, p := range pods(o) {
				n++
				t.Run(p.at, func(t *testing.T) { f(t, p) })
			}
		}
	}
	if n != 6 {
		t.Errorf("%d templates of pods", n)
	}
}

func is[T comparable](p *T, want T) bool { return p != nil && *p == want }

// No pod can do more than an ordinary user, nor ask the API for anything.
func TestRights(t *testing.T) {
	everyPod(t, func(t *testing.T, p pod) {
		s := p.spec.SecurityContext
		if s == nil || !is(s.RunAsNonRoot, true) || s.RunAsUser == nil || s.FSGroup == nil || s.SeccompProfile == nil || s.SeccompProfile.Type != core.SeccompProfileTypeRuntimeDefault {
			t.Errorf("security context %+v", s)
		}
		if !is(p.spec.AutomountServiceAccountToken, false) || !is(p.spec.EnableServiceLinks, false) {
			t.Error("it has a token of the API, or variables of all services")
		}
		if p.spec.HostNetwork || p.spec.HostPID || p.spec.HostIPC {
			t.Error("it shares the host's namespaces")
		}
		for _, c := range slices.Concat(p.spec.InitContainers, p.spec.Containers) {
			s := c.SecurityContext
			if s == nil || !is(s.AllowPrivilegeEscalation, false) || s.Capabilities == nil || !slices.Equal(s.Capabilities.Drop, []core.Capability{"ALL"}) || len(s.Capabilities.Add) > 0 {
				t.Errorf("container %s: security context %+v", c.Name, s)
			}
			if len(c.Resources.Requests) == 0 || c.Resources.Limits.Memory().IsZero() {
				t.Errorf("container %s: resources %+v", c.Name, c.Resources)
			}
		}
	})
}

// Pods with ranks spread over hosts, and over zones where there are any.
func TestSpread(t *testing.T) {
	everyPod(t, func(t *testing.T, p pod) {
		if !p.runs {
			return
		}
		strict := map[string]core.UnsatisfiableConstraintAction{}
		for _, c := range p.spec.TopologySpreadConstraints {
			strict[c.TopologyKey] = c.WhenUnsatisfiable
			for name, value := range c.LabelSelector.MatchLabels {
				if p.meta[name] != value {
					t.Errorf("%s spreads pods with %s=%s, but has %q itself", c.TopologyKey, name, value, p.meta[name])
				}
			}
		}
		if len(strict) != 2 || strict[core.LabelHostname] != core.DoNotSchedule || strict[core.LabelTopologyZone] != core.ScheduleAnyway {
			t.Errorf("it spreads over %v", strict)
		}
	})
}

// Ranks can't read the job's key: their container mounts only a copy, which the agent removes.
func TestRanksHaveNoKey(t *testing.T) {
	everyPod(t, func(t *testing.T, p pod) {
		if !p.runs || p.job == nil {
			return
		}
		secret := ""
		for _, v := range p.spec.Volumes {
			if v.Secret != nil {
				secret = v.Name
				if !is(v.Secret.DefaultMode, 0o440) {
					t.Error("the key can be read by all")
				}
			}
			if v.Name == "copy" && (v.EmptyDir == nil || v.EmptyDir.Medium != core.StorageMediumMemory) {
				t.Error("the copy of the key goes to a disk")
			}
		}
		for _, c := range p.spec.Containers {
			if slices.ContainsFunc(c.VolumeMounts, func(m core.VolumeMount) bool { return m.Name == secret }) {
				t.Errorf("container %s mounts the key", c.Name)
			}
			if !strings.Contains(strings.Join(c.Args, " "), "rm /run/banyan/key &&") {
				t.Errorf("container %s leaves the copy", c.Name)
			}
		}
	})
}

// The line of shell that starts the agent gives it the key and leaves none behind. banyan is a
// stand-in.
func TestAgentGetsTheKey(t *testing.T) {
	everyPod(t, func(t *testing.T, p pod) {
		if !p.runs || p.job == nil {
			return
		}
		dir := t.TempDir()
		for name, text := range map[string]string{
			"key":    "5a5a\n",
			"banyan": "#!/bin/sh\ncat\necho \"$@\"\nls " + dir + "\n",
		} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o700); err != nil {
				t.Fatal(err)
			}
		}
		c := p.spec.Containers[0]
		cmd := exec.Command("sh", "-c", strings.ReplaceAll(c.Args[0], "/run/banyan", dir))
		cmd.Env = []string{"PATH=" + dir + ":" + os.Getenv("PATH")}
		for _, e := range c.Env {
			if e.ValueFrom != nil {
				e.Value = "a label"
			}
			cmd.Env = append(cmd.Env, e.Name+"="+e.Value)
		}
		out, err := cmd.CombinedOutput()
		if want := "5a5a\nagent --join " + c.Env[0].Value + " --zone a label\nbanyan\n"; err != nil || string(out) != want {
			t.Errorf("%v: %q, not %q", err, out, want)
		}
	})
}

// Agents know their zones by a label, which the API gives to pods.
func TestZone(t *testing.T) {
	everyPod(t, func(t *testing.T, p pod) {
		if !p.runs || p.job == nil {
			return
		}
		for _, e := range p.spec.Containers[0].Env {
			if e.Name == "ZONE" && e.ValueFrom != nil && e.ValueFrom.FieldRef != nil && e.ValueFrom.FieldRef.FieldPath == "metadata.labels['"+core.LabelTopologyZone+"']" {
				return
			}
		}
		t.Error("no variable has the zone")
	})
}

// The numbers of pods are those of agents: an Indexed Job counts from 0, and all run at once.
func TestNumbers(t *testing.T) {
	everyPod(t, func(t *testing.T, p pod) {
		if p.job == nil {
			return
		}
		j := p.job
		if j.CompletionMode == nil || *j.CompletionMode != batch.IndexedCompletion || j.Completions == nil || !is(j.Parallelism, *j.Completions) {
			t.Errorf("mode %v, completions %v, parallelism %v", j.CompletionMode, j.Completions, j.Parallelism)
		}
		if j.PodFailurePolicy == nil || p.spec.RestartPolicy != core.RestartPolicyNever {
			t.Error("a policy for failed pods needs restartPolicy: Never")
		}
	})
}
