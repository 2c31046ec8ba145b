package steward

import (
	"slices"

	"banyan/internal/proto"
)

// FileWitness is one agent's copy of a witness that is nothing but files on a shared file system.
// What the witness is asked, by all agents, is a list: question n is file n. A file is made once,
// whole, by a call of the file system that fails if there is one already (link(2)), and never
// changed. So all agents read the same list. Each answer of a Witness depends only on the list up
// to the question, so every agent that has read it knows what the witness says: one that asks makes
// the next file, and is answered when it has read all before.
//
// # Times
//
// Each copy goes by its agent's clock. It takes a question for as old as its reading of the file,
// which is later than when the file was made. So ages are too short if anything, and a lease runs
// from when it was asked for, before the file was made. Clocks needn't agree, and files have no
// times.
//
// # What files may do
//
// Only this must hold: a file that was made is whole, and no two are made under one number. That a
// file can't be read, or can't be seen yet (attribute caches), stops this copy until it asks again;
// it passes no number whose file it hasn't read. That a call fails, or says that there is a file
// already, says nothing about whose it is: the copy reads it. One call is under way at a time, and
// nothing waits for it but this copy. So a file system that hangs costs the witness's vote, and
// nothing else.
type FileWitness struct {
	witness Witness
	writer  uint64
	count   uint64
	next    uint64     // the number of the first file that it hasn't read
	waiting []*Message // questions, at most one of each kind
	trying  *Entry     // of which the file is to be made
	busy    bool       // a call is under way
	read    bool       // there may be a file to be read, before one is made
	stale   bool       // there is one for certain
}

// Entry is what a file says: a question. No two have the same Writer and Count.
type Entry struct {
	Writer, Count uint64
	Message       *Message
}

// FileCall is what a copy wants of the file system: that the file of this number is made, or, if
// Make is nil, read.
type FileCall struct {
	Number uint64
	Make   *Entry
}

// FileOutcome says how a call ended.
type FileOutcome uint8

// Outcomes of calls.
const (
	FileDone    FileOutcome = iota // it was made, or read
	FileExists                     // it wasn't made, because there is one; it may be this copy's all the same
	FileAbsent                     // there was none to be read, as far as this host sees
	FileUnknown                    // anything else: nobody knows what has happened
)

// FileResult is the end of a call; Entry is what was read.
type FileResult struct {
	Outcome FileOutcome
	Entry   *Entry
}

// NewFileWitness makes an agent's copy. No other agent has this writer number.
func NewFileWitness(now proto.Time, self Host, writer uint64, first *Ledger) *FileWitness {
	return &FileWitness{witness: *NewWitness(now, self, first), writer: writer, next: 1}
}

// Ask puts a question of this agent, in place of one of its kind that still waits. If a call is due
// it is returned; its end must be told to Ended, before Ask returns another one.
func (f *FileWitness) Ask(m *Message) *FileCall {
	f.waiting = slices.DeleteFunc(f.waiting, func(w *Message) bool { return w.Kind == m.Kind })
	f.waiting = append(f.waiting, m)
	return f.call()
}

// call is the next call.
func (f *FileWitness) call() *FileCall {
	switch {
	case f.busy || f.trying == nil && len(f.waiting) == 0:
		return nil
	case f.read:
		f.busy = true
		return &FileCall{Number: f.next}
	case f.trying == nil:
		f.count++
		f.trying = &Entry{f.writer, f.count, f.waiting[0]}
		f.waiting = f.waiting[1:]
	}
	f.busy = true
	return &FileCall{f.next, f.trying}
}

// Ended takes the end of a call. It returns the next one, if one is due, and the witness's answers
// to this agent as actions.
func (f *FileWitness) Ended(now proto.Time, c *FileCall, r FileResult, out *[]Action) *FileCall {
	f.busy = false
	switch {
	case r.Outcome == FileDone && c.Make != nil:
		f.take(now, c.Make, out)
		f.read = false
	case r.Outcome == FileDone:
		f.take(now, r.Entry, out)
	case r.Outcome == FileExists:
		f.read, f.stale = true, true
	case r.Outcome == FileAbsent && !f.stale:
		f.read = false
	default:
		// The next question will try again. What was tried may be there, or come to be there under
		// this number: then it is read.
		f.read, f.stale, f.trying = true, false, nil
		return nil
	}
	return f.call()
}

// take reads a file.
func (f *FileWitness) take(now proto.Time, e *Entry, out *[]Action) {
	f.next++
	f.stale = false
	var answers []Action
	f.witness.Receive(now, e.Message, &answers)
	if e.Writer != f.writer {
		return
	}
	*out = append(*out, answers...)
	if f.trying != nil && f.trying.Count == e.Count {
		f.trying = nil
	}
}
