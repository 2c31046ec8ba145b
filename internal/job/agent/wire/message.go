package wire

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"

	"banyan/internal/counters"
	"banyan/internal/job/control"
	"banyan/internal/proto"
)

// maxMessage bounds a message in bytes: the environments of some thousand processes.
const maxMessage = 64 << 20

// Type says what a Message is.
type Type string

// From the launcher. Each carries its Term.
const (
	// Start asks for processes: Start. Started or Failed answers.
	Start Type = "start"
	// Signal sends a Signal to a process.
	Signal Type = "signal"
	// CountTaken asks how much of its input a process has read. Taken answers.
	CountTaken Type = "count taken"
	// Drain asks how much a process has written to Channel so far, when all of that was read.
	// Drained answers, unless Forget does away with the question.
	Drain  Type = "drain"
	Forget Type = "forget"
	// DigestPart asks for digests of what the memory Slot of a process's snapshots has.
	// PartDigested answers. ReadPart asks for it, or for the blocks in Words, on the stream
	// Part. PartRead says how much that is. WritePart announces what it is to have, or the
	// blocks in Words, on that stream. PartReady answers; and PartWritten, behind the end of the
	// stream, answers the question numbered Count.
	DigestPart Type = "digest part"
	ReadPart   Type = "read part"
	WritePart  Type = "write part"
	// Watch asks for news of debuggers, also of the process Speaker that speaks for this one.
	Watch Type = "watch"
	// Close asks the agent to end all processes and itself. Gone answers.
	Close Type = "close"
	// Adopt, from a launcher that has taken over: it has the streams of all processes that the
	// agent has said are Standing. Adopted answers.
	Adopt Type = "adopt"
	// Open asks for Ports to the agent, for those of other hosts. Opened answers. Charter has it
	// begin to take part in their decisions; what it says is for package succession, as is Meet,
	// which tells of agents that came later.
	Open    Type = "open"
	Charter Type = "charter"
	Meet    Type = "meet"
	// Show has the agent show the job to people, as Words say; Showing answers. From then on the
	// stream Shown tells it how the job is. Both are for package status/serve.
	Show Type = "show"
	// Record has the processes record a span of time, of Words. Recorded answers when that is over.
	Record Type = "record"
	// Answered answers a Request, with Words.
	Answered Type = "answered"
)

// From the agent.
const (
	Started   Type = "started" // Pids
	Failed    Type = "failed"  // Proc, Op, Errno; or Text
	Taken     Type = "taken"   // Count, or Text
	Drained   Type = "drained" // Count
	PartReady Type = "part ready"
	// PartDigested tells the digests of a part, Words; or Text says what failed.
	PartDigested Type = "part digested"
	// PartRead and PartWritten tell how many bytes a part has, Count; or Text says what failed.
	PartRead    Type = "part read"
	PartWritten Type = "part written"
	// News tells that Stopped, Ended or Traced of a process has changed.
	News Type = "news"
	// Counted tells what a process has counted, Counters, if it counts: about once a second.
	Counted Type = "counted"
	// Exited tells that a process has ended with Status, At.
	Exited Type = "exited"
	// Gone tells that the agent has ended all its processes, because of Text, and ends.
	Gone Type = "gone"
	// Stands tells a launcher that has taken over which processes there are.
	Stands  Type = "stands"
	Adopted Type = "adopted"
	Opened  Type = "opened" // Ports, or Text
	// Showing tells where the job is shown, in Words, which are empty if nowhere; or Text says why
	// it can't be shown.
	Showing Type = "showing"
	// Request asks for something that somebody wants who watches the job there, in Words. Answered
	// answers.
	Request Type = "request"
	// Recorded tells what Count processes have recorded, in Words, and that Slot of them have
	// recorded only the first events; or Text says what failed.
	Recorded Type = "recorded"
	// Joined tells that the agent has its lease from the voters from now on.
	Joined Type = "joined"
)

// Ports are where other hosts find an agent, and the launcher that it starts if it leads, as
// HOST:PORT.
type Ports struct {
	Agent    []string `json:"agent"`
	Launcher []string `json:"launcher"`
}

// Standing is a process that an earlier launcher has started.
type Standing struct {
	Proc        proto.Proc        `json:"proc"`
	Incarnation proto.Incarnation `json:"incarnation,omitempty"`
	Pid         int               `json:"pid"`
	// Stdin is how much input the process was given. HasStdin says whether it gets any, and
	// StdinOver that it got all, or wants no more.
	Stdin     uint64 `json:"stdin,omitempty"`
	HasStdin  bool   `json:"has_stdin,omitempty"`
	StdinOver bool   `json:"stdin_over,omitempty"`
	// Outputs are the offsets from which on its stdout and stderr are kept, and Over says which of
	// them are over.
	Outputs [2]uint64 `json:"outputs"`
	Over    [2]bool   `json:"over"`
	Trace   bool      `json:"trace,omitempty"` // it records: its trace begins anew
	// Barriers is how many barriers of PMI it has left.
	Barriers int               `json:"barriers,omitempty"`
	Said     []control.Message `json:"said,omitempty"`
}

// Message is what the launcher and an agent say on the stream Control. Fields that a Type doesn't
// name are zero.
type Message struct {
	Type Type `json:"type"`
	// Term is the launcher's. An agent refuses what a launcher of an older term says than one that
	// it has heard, so that another launcher can take over.
	Term uint64 `json:"term,omitempty"`
	// Ask numbers a question; the answer has the same.
	Ask         uint64            `json:"ask,omitempty"`
	Proc        proto.Proc        `json:"proc,omitempty"`
	Incarnation proto.Incarnation `json:"incarnation,omitempty"`
	Channel     Channel           `json:"channel,omitempty"`
	Slot        int               `json:"slot,omitempty"`
	Start       *Specs            `json:"start,omitempty"`
	Pids        []int             `json:"pids,omitempty"`
	Signal      int               `json:"signal,omitempty"`
	Speaker     int               `json:"speaker,omitempty"`
	Count       int64             `json:"count,omitempty"`
	Op          string            `json:"op,omitempty"`
	Errno       int               `json:"errno,omitempty"`
	Text        string            `json:"text,omitempty"`
	Stopped     bool              `json:"stopped,omitempty"`
	Ended       bool              `json:"ended,omitempty"`
	Traced      bool              `json:"traced,omitempty"`
	Status      uint32            `json:"status,omitempty"`
	Standing    []Standing        `json:"standing,omitempty"`
	Ports       *Ports            `json:"ports,omitempty"`
	Words       []byte            `json:"words,omitempty"` // Charter, Meet, Show, Showing, Request, Answered, Record, Recorded; blocks of parts
	Counters    *counters.Record  `json:"counters,omitempty"`
	At          proto.Time        `json:"at,omitempty"` // by the agent's CLOCK_BOOTTIME
}

// AppendMessage appends a message to b as it stands in a stream, its length before it.
func AppendMessage(b []byte, m *Message) ([]byte, error) {
	text, err := json.Marshal(m)
	if err == nil && len(text) > maxMessage {
		err = fmt.Errorf("its %d bytes are more than %d: start fewer processes on a host, or with smaller environments", len(text), maxMessage)
	}
	if err != nil {
		return b, fmt.Errorf("the message %q: %w", m.Type, err)
	}
	return append(binary.BigEndian.AppendUint32(b, uint32(len(text))), text...), nil
}

// ReadMessage reads the next message of a stream. It holds no more than has come.
func ReadMessage(r io.Reader) (m Message, err error) {
	var head [headSize]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return m, err
	}
	size := binary.BigEndian.Uint32(head[:])
	if size > maxMessage {
		return m, fmt.Errorf("%w: a message of %d bytes", ErrCorrupt, size)
	}
	text, err := io.ReadAll(io.LimitReader(r, int64(size)))
	if err == nil && len(text) < int(size) {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return m, err
	}
	if err := json.Unmarshal(text, &m); err != nil {
		return m, fmt.Errorf("%w: %v", ErrCorrupt, err)
	}
	if m.Type == "" || m.Channel >= channels || m.Proc < 0 {
		return m, fmt.Errorf("%w: a message %.100q", ErrCorrupt, text)
	}
	return m, nil
}
