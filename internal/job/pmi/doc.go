// Package pmi speaks the PMI-1 wire protocol, with which the processes of a job find each other:
// the client that runs in every process, and the server that "banyan run" offers them. Hydra's
// mpiexec and Slurm offer the same protocol, so the client works under them, too.
//
// # The protocol
//
// A conversation consists of lines. A line has fields "key=value", the first of them "cmd=…".
// The client asks and the server answers, one question at a time. (This package's server also takes
// several questions together, which a client asks by a Batch.)
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
// The environment says where the server is. PMI_FD is an inherited descriptor, and PMI_RANK and
// PMI_SIZE number the processes. Or PMI_PORT is the host:port to connect to, and PMI_ID names the
// process; then the server tells rank and size.
//
// # Death
//
// PMI-1 knows no death: a barrier waits for all processes. This package's server is told which
// processes are dead (Server.Gone), and its barriers count only live ones. So a Get after a
// barrier may find no key (ErrNoKey): the process that should have put it died before.
//
// # Limits
//
// Keys and values are printable ASCII without blanks, and keys have no "=" either. The server
// refuses spawning and name publishing.
package pmi

import "errors"

// ErrNoKey says that no process has put the key that a Get asked for.
var ErrNoKey = errors.New("no such key")

// Limits that the server tells its clients, in bytes.
const (
	maxName  = 256
	maxKey   = 64
	maxValue = 1024
)

// maxLine bounds a line of either side, in bytes without the line end. It has room for every
// valid question, and for what other servers add to answers.
const maxLine = 8192
