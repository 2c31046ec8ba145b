package control

import "encoding/json"

// SpawnOrder is what a process asks its launcher to start: a job of its own, whose processes
// connect to those that have spawned it.
type SpawnOrder struct {
	Parts []SpawnPart `json:"parts"`
	// Port is where the others wait. It has a secret.
	Port string `json:"port"`
}

// SpawnPart is one of the programs.
type SpawnPart struct {
	Program string   `json:"program"`
	Args    []string `json:"args,omitempty"`
	Ranks   int      `json:"ranks"`
	Dir     string   `json:"dir,omitempty"`  // to start in; empty: the asker's
	Path    string   `json:"path,omitempty"` // directories to look for the program in, with colons between
	Hosts   []string `json:"hosts,omitempty"`
}

// Fits says whether an order fits into a line.
func (s *SpawnOrder) Fits() bool {
	b, err := json.Marshal(s)
	return err == nil && len(b) < maxLine-4<<10
}
