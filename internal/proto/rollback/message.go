package rollback

import "banyan/internal/proto"

// Epoch counts how often a job has gone back. Its processes belong to one each.
type Epoch uint32

// Snapshot numbers the snapshots of a job from 1, in the order in which they are begun, whatever
// becomes of them. Beginning is the state of a program that hasn't begun.
type Snapshot uint64

// Beginning needs no copies.
const Beginning Snapshot = 0

// Host is where parts are kept: a host by its number, or Disk.
type Host int32

const (
	// NoHost is the buddy of a process that has none.
	NoHost Host = -1
	// Disk is storage that isn't lost with a host.
	Disk Host = -2
)

// Place is where a part is: on Host, as that of process Proc. On Disk it is that of a rank, and
// Proc is any of its processes.
type Place struct {
	Host Host
	Proc proto.Proc
}

// OrderKind says what an Order is.
type OrderKind uint8

// Kinds of orders.
const (
	Hold   OrderKind = iota // don't pass the next safe point
	Aim                     // go on to safe point At, and stand there
	Flush                   // when a marker of each of From has come, capture or load
	Resume                  // go on: the snapshot is captured, loaded or abandoned
	Start                   // the part of Snapshot is at the process's host, which is to load it
)

// Order is what the Coordinator tells a process.
type Order struct {
	Kind     OrderKind
	Snapshot Snapshot
	At       uint64
	From     []proto.Proc
	Sends    []uint64 // of Flush, where ranks have replicas: how many messages each has sent
	Repeats  bool     // of Flush: parts have what was decided before the first safe point
}

// ReportKind says what a Report is.
type ReportKind uint8

// Kinds of reports.
const (
	Holding  ReportKind = iota // it won't pass safe point At
	Paused                     // it stands where it should, and has sent to Sent since it was started
	Captured                   // its host has its state; or it has loaded it
	Unable                     // it can't be captured at this safe point, or comes to none any more
	Came                       // it stands at its first safe point, until all do
)

// Report is what a process tells the Coordinator.
type Report struct {
	Kind     ReportKind
	Epoch    Epoch
	Snapshot Snapshot
	At       uint64
	Step     proto.Time // of Holding: the longest time between two safe points so far; 0: it has come to one at most
	Sent     []proto.Proc
	Sends    uint64 // of Paused: how many messages it has sent, where ranks have replicas
	Why      string // of Unable
}
