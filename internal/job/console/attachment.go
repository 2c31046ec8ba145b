package console

// Attachment is what a console says of itself.
type Attachment struct {
	// Watch asks for the output alone: the console passes neither input nor signals, and the job
	// doesn't wait for it.
	Watch bool `json:"watch,omitempty"`
	// Starting says that the console goes when all processes have started. It isn't sent stdout, so
	// that all of that is for the next console.
	Starting bool `json:"starting,omitempty"`
	// File says that the console writes stdout into a file: it must be the owner.
	File bool `json:"file,omitempty"`
	// Launcher is that whose words the positions before it mean; empty: of no one.
	Launcher string `json:"launcher,omitempty"`
}

// Welcomed is the answer to an Attachment.
type Welcomed struct {
	Job string `json:"job"`
	// Owner says that this console's input and signals are the job's, and that the job waits for
	// its acknowledgements. Of several consoles one is the owner; the others watch.
	Owner bool `json:"owner"`
	// Launcher is this one's name, which no other launcher of the job has.
	Launcher string `json:"launcher"`
	Host     string `json:"host"` // on which it runs
	// Label says that the rank is to be put before each line.
	Label bool `json:"label,omitempty"`
	// Reach says where the next launcher may be; nil: nowhere.
	Reach *Reach `json:"reach,omitempty"`
	// Input is how much input the job has, InputEnded that it can have no more.
	Input      int64 `json:"input"`
	InputEnded bool  `json:"input_ended"`
}

// Reach is how the hosts of a job are reached on which its next launcher may be, if this one is
// lost. It has no secret.
type Reach struct {
	// Words are those of a command that runs another one on a host: see starter.How.
	Words []string `json:"words"`
	Self  string   `json:"self"` // the path of banyan there
	Hosts []string `json:"hosts"`
}
