package console

// Attachment is what a console says of itself.
type Attachment struct {
	// Watch asks for the output alone: the console passes neither input nor signals, and the job
	// doesn't wait for it.
	Watch bool `json:"watch,omitempty"`
	// Starting says that the console goes when all processes have started. It isn't sent stdout, so
	// that all of that is for the next console.
	Starting bool `json:"starting,omitempty"`
	// File says that the console writes stdout into a file, behind the Length bytes that this
	// holds. It is the file's identity.
	File   string `json:"file,omitempty"`
	Length int64  `json:"length,omitempty"`
}

// Welcomed is the answer to an Attachment.
type Welcomed struct {
	Job string `json:"job"`
	// Owner says that this console's input and signals are the job's, and that the job waits for
	// its acknowledgements. Of several consoles one is the owner; the others watch.
	Owner bool `json:"owner"`
	// Begin is where each stream goes on.
	Begin [streams]int64 `json:"begin"`
	// Input is how much input the job has, InputEnded that it can have no more.
	Input      int64 `json:"input"`
	InputEnded bool  `json:"input_ended"`
}

// place returns where stdout goes on for a console that writes it to a file. bases says for each
// file what of the stream stands at its beginning, or would stand there.
//
// If the file is known and what it holds ends within what is kept, the rest follows, whatever was
// acknowledged: so a console that was killed may have written more than it has said. Otherwise the
// file is new, or another console has shown something since: then the stream goes on where it was
// left.
func (r *record) place(a Attachment, bases map[string]int64) int64 {
	if base, known := bases[a.File]; known && base+a.Length >= r.acked && base+a.Length <= r.end() {
		return base + a.Length
	}
	bases[a.File] = r.acked - a.Length
	return r.acked
}
