package check

import (
	batch "k8s.io/api/batch/v1"
	core "k8s.io/api/core/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The types of the two controllers that aren't part of Kubernetes: names of fields around the
// template of a Job or a pod. The Go modules that have them bring the whole controllers. Only
// the fields that the manifests use are here. A manifest that uses another is refused until it
// is written down. The names were compared with the controllers' sources
// (kubernetes-sigs/jobset, api/jobset/v1alpha2; kubeflow/mpi-operator,
// pkg/apis/kubeflow/v2beta1) on 22 November 2026.

// jobSet is jobset.x-k8s.io/v1alpha2.
type jobSet struct {
	meta.TypeMeta   `json:",inline"`
	meta.ObjectMeta `json:"metadata"`
	Spec            struct {
		Network struct {
			EnableDNSHostnames       *bool  `json:"enableDNSHostnames"`
			Subdomain                string `json:"subdomain"`
			PublishNotReadyAddresses *bool  `json:"publishNotReadyAddresses"`
		} `json:"network"`
		SuccessPolicy struct {
			Operator             string   `json:"operator"`
			TargetReplicatedJobs []string `json:"targetReplicatedJobs"`
		} `json:"successPolicy"`
		FailurePolicy struct {
			MaxRestarts int32 `json:"maxRestarts"`
		} `json:"failurePolicy"`
		TTLSecondsAfterFinished *int32          `json:"ttlSecondsAfterFinished"`
		ReplicatedJobs          []replicatedJob `json:"replicatedJobs"`
	} `json:"spec"`
}

type replicatedJob struct {
	Name     string                `json:"name"`
	Replicas int32                 `json:"replicas"`
	Template batch.JobTemplateSpec `json:"template"`
}

// mpiJob is kubeflow.org/v2beta1.
type mpiJob struct {
	meta.TypeMeta   `json:",inline"`
	meta.ObjectMeta `json:"metadata"`
	Spec            struct {
		MPIImplementation      string `json:"mpiImplementation"`
		SlotsPerWorker         *int32 `json:"slotsPerWorker"`
		SSHAuthMountPath       string `json:"sshAuthMountPath"`
		LauncherCreationPolicy string `json:"launcherCreationPolicy"`
		RunPolicy              struct {
			CleanPodPolicy          string `json:"cleanPodPolicy"`
			BackoffLimit            *int32 `json:"backoffLimit"`
			ActiveDeadlineSeconds   *int64 `json:"activeDeadlineSeconds"`
			TTLSecondsAfterFinished *int32 `json:"ttlSecondsAfterFinished"`
		} `json:"runPolicy"`
		MPIReplicaSpecs struct {
			Launcher, Worker replicaSpec
		} `json:"mpiReplicaSpecs"`
	} `json:"spec"`
}

type replicaSpec struct {
	Replicas *int32               `json:"replicas"`
	Template core.PodTemplateSpec `json:"template"`
}
