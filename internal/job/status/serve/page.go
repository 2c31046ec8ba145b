package serve

import (
	"bytes"
	"crypto/sha256"
	_ "embed" // for the files
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"

	"banyan/internal/job/status"
)

var (
	//go:embed page.html
	frameFile []byte
	//go:embed page.css
	styleFile []byte
	//go:embed page.js
	pageScript []byte
	//go:embed draw.js
	drawScript []byte

	scriptFile = bytes.Replace(pageScript, []byte("/*DRAW*/"), drawScript, 1)
	livePage   = assemble(nil)
	// policy lets the page load nothing, and talk to other addresses of the job.
	policy = fmt.Sprintf("default-src 'none'; style-src 'unsafe-inline'; img-src data:; connect-src *; script-src 'sha256-%s'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
		base64.StdEncoding.EncodeToString(sum(scriptFile)))
)

func sum(b []byte) []byte {
	s := sha256.Sum256(b)
	return s[:]
}

// assemble makes the page one file. data is the state that it shows; nil: the job's, as it goes.
func assemble(data []byte) []byte {
	page := bytes.Replace(frameFile, []byte("/*STYLE*/"), styleFile, 1)
	page = bytes.Replace(page, []byte("/*SCRIPT*/"), scriptFile, 1)
	return bytes.Replace(page, []byte("/*DATA*/"), data, 1)
}

// WriteReport writes the page of a job that is over, as one file.
func (h *Hub) WriteReport(w io.Writer) error {
	data := h.state()
	if data == nil { // it has never begun
		data, _ = json.Marshal(status.NewTracker(status.Job{Name: h.name}).State())
	}
	_, err := w.Write(assemble(data)) // json.Marshal has escaped <
	return err
}
