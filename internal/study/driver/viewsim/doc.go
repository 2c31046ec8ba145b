// Package viewsim drives the machines of the membership, internal/proto/membership, in LogP time,
// and, for comparison, the protocol as its paper prints it, internal/study/protocol/varma. It
// measures what the paper measures: how long after a fault a view is stable.
//
// # The model
//
// Sending takes a process the overhead o, then the message travels for the latency L, then
// receiving takes its receiver o. Where there are several hops between two ([Settings].Hops),
// each further one takes L + 2o, as in the distance model. Sends of a process are serial, and so
// are its receives, in the order of arrival; sends and receives overlap. A process of a new view
// computes for Settings.Compute before it sends anything: the paper's Ocp. That is counted with
// the messages that go down the tree (proposals, the collection before a takeover), not with
// acknowledgements and commits. Messages between two processes come in the order in which they
// were sent. Time is integral, in any unit.
//
// At one instant, receives end first, then the detector reports deaths, then deadlines pass, then
// messages arrive; equal events happen in the order in which they were scheduled.
//
// A process that dies makes no send that begins at that instant or later, and ends no
// receive; what it has begun to send is sent.
//
// The detector is perfect: it informs every live process of each death, after Settings.Detection,
// or a time drawn for each from there to Spread later. It calls a death certain, so no quorum is
// needed here.
//
// # What is measured
//
// Times are from the first step of a coordinator, when it begins to spread a change (gathering is
// over then). [Outcome.Stable] is when the last coordinator has all acknowledgements, the end of
// the paper's stabilisation time, and [Outcome.Installed] when the last process has installed the
// last view.
//
// # Limits
//
// There are no cuts, no silence, no time-outs: the machine's own tests and internal/testing/hosts
// cover those. A process with Banyan's machine takes about 1 KB (TestMemory), one with the
// paper's four bytes for each member, so that there may be no more than MaxPaperNodes of them.
package viewsim
