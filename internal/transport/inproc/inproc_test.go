package inproc

import (
	"testing"

	"go.uber.org/goleak"

	"banyan/internal/proto"
	"banyan/internal/transport"
	"banyan/internal/transport/transporttest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func newJob(t *testing.T, n int) *transporttest.Job {
	net := NewNetwork(n)
	job := &transporttest.Job{Crash: net.Kill, Ended: transport.EvidenceExited}
	for p := range proto.Proc(n) {
		tr := net.Endpoint(p)
		job.Procs = append(job.Procs, tr)
		t.Cleanup(func() { tr.Close() })
	}
	return job
}

func TestConformance(t *testing.T) { transporttest.Run(t, newJob) }
