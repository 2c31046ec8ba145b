// Package check holds the manifests beside it against the types of the Kubernetes API: a field
// that the API doesn't know, or a value of another type, is an error. It also holds them
// against rules of their own, about security and placement.
package check

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	batch "k8s.io/api/batch/v1"
	core "k8s.io/api/core/v1"
	networking "k8s.io/api/networking/v1"
	"sigs.k8s.io/yaml"
)

// object is an object of the API with the type that it says it is.
type object struct {
	file, kind string
	value      any
}

func (o object) String() string { return o.file + ": " + o.kind }

// newValue makes an empty object of a type.
var newValue = map[string]func() any{
	"v1 Secret":                          func() any { return new(core.Secret) },
	"v1 Service":                         func() any { return new(core.Service) },
	"batch/v1 Job":                       func() any { return new(batch.Job) },
	"networking.k8s.io/v1 NetworkPolicy": func() any { return new(networking.NetworkPolicy) },
	"jobset.x-k8s.io/v1alpha2 JobSet":    func() any { return new(jobSet) },
	"kubeflow.org/v2beta1 MPIJob":        func() any { return new(mpiJob) },
}

// decode decodes the YAML documents of a file, strictly.
func decode(file string, text []byte) (all []object, err error) {
	for _, document := range bytes.Split(text, []byte("\n---\n")) {
		var head struct{ APIVersion, Kind string }
		if err := yaml.Unmarshal(document, &head); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		name := head.APIVersion + " " + head.Kind
		if newValue[name] == nil {
			return nil, fmt.Errorf("%s: there is no type %q", file, name)
		}
		o := object{file, head.Kind, newValue[name]()}
		if err := yaml.UnmarshalStrict(document, o.value); err != nil {
			return nil, fmt.Errorf("%v: %w", o, err)
		}
		all = append(all, o)
	}
	return all, nil
}

// folders are the ways to start a job.
var folders = []string{"job", "jobset", "mpijob"}

// manifests are the objects in a folder.
func manifests(t *testing.T, folder string) (all []object) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("..", folder, "*.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if base := filepath.Base(file); base == "kustomization.yaml" || base == "fields.yaml" {
			continue // kustomize reads them, see kustomize_test.go
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		objects, err := decode(file, text)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, objects...)
	}
	if len(all) == 0 {
		t.Fatalf("%s has no manifests", folder)
	}
	return all
}

func TestTypes(t *testing.T) {
	for _, folder := range folders {
		manifests(t, folder)
	}
}

// A mistake in any kind of object is found.
func TestMistakes(t *testing.T) {
	for _, c := range []struct{ folder, kind, old, new string }{
		{"job", "Job", "completionMode:", "completionmode2:"},
		{"job", "Job", "maxSkew: 1", "maxSkew: one"},
		{"job", "Job", "runAsNonRoot:", "runAsNonroot2:"},
		{"job", "Service", "clusterIP:", "clusterIp2:"},
		{"job", "NetworkPolicy", "podSelector:", "podSelectors:"},
		{"jobset", "JobSet", "replicatedJobs:", "replicatedJob:"},
		{"jobset", "JobSet", "targetReplicatedJobs:", "targetJobs:"},
		{"jobset", "JobSet", "restartPolicy:", "restartPolicies:"},
		{"mpijob", "MPIJob", "slotsPerWorker:", "slots:"},
		{"mpijob", "MPIJob", "drop:", "dropped:"},
	} {
		found := false
		for _, o := range manifests(t, c.folder) {
			text, err := os.ReadFile(o.file)
			if err != nil {
				t.Fatal(err)
			}
			if o.kind != c.kind || !bytes.Contains(text, []byte(c.old)) {
				continue
			}
			found = true
			wrong := strings.Replace(string(text), c.old, c.new, 1)
			if _, err := decode(o.file, []byte(wrong)); err == nil {
				t.Errorf("%v: %s in place of %s is no error", o, c.new, c.old)
			}
		}
		if !found {
			t.Errorf("no %s of %s says %s", c.kind, c.folder, c.old)
		}
	}
}
