// Package pmi speaks the PMI-1 wire protocol, by which the processes of a job
// find each other: the client that runs in every process, and the server that
// "banyan run" offers them. Hydra's mpiexec and Slurm offer the same protocol, so
// the client works under them too.
//
// # The protocol
//
// A conversation is lines of "key=value" fields, the first of them "cmd=…". The
// client asks, the server answers, one question at a time:
//
//	cmd=init pmi_version=1 pmi_subversion=1
//	cmd=response_to_init rc=0 pmi_version=1 pmi_subversion=1
//	cmd=put kvsname=job key=address-0 value=10.0.0.1:4000
//	cmd=put_result rc=0 msg=success
//	cmd=barrier_in
//	cmd=barrier_out
//	cmd=get kvsname=job key=address-1
//	cmd=get_result rc=0 msg=success value=10.0.0.2:4000
//	cmd=finalize
//	cmd=finalize_ack
//
// The environment says where the server is: PMI_FD is an inherited descriptor;
// PMI_PORT is host:port to connect to, where PMI_ID names the process. PMI_RANK
// and PMI_SIZE number the processes; with PMI_PORT the server tells them.
//
// # Death
//
// PMI-1 knows no death: a barrier waits for everybody. The server here is told
// of the dead (Server.Gone), and its barriers count the living only. So a Get
// after a barrier may find no key (ErrNoKey): its owner died before it could
// put one.
//
// # Limits
//
// Keys and values are printable ASCII without blanks, keys without "=" too.
// Spawning and name publishing are refused.
package pmi

import "errors"

// ErrNoKey says that nobody has put the key a Get asked for.
var ErrNoKey = errors.New("no such key")

// Bounds that the server tells its clients, in bytes.
const (
	maxName  = 256
	maxKey   = 64
	maxValue = 1024
)

// maxLine bounds a line of either side, in bytes without the line end. It has
// room for every valid question and for what other servers add to answers.
const maxLine = 8192
