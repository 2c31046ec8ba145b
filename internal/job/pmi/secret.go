package pmi

import (
	"crypto/rand"
	"encoding/hex"
)

// SecretKey is the key of a job's secret, random bytes in hexadecimal digits, if the launcher has
// made one.
const SecretKey = "banyan-secret"

// secretSize is that of a job's secret in bytes.
const secretSize = 32

// NewSecret makes a secret for a job.
func NewSecret() string {
	var secret [secretSize]byte
	rand.Read(secret[:])
	return hex.EncodeToString(secret[:])
}

// MakeSecret makes the job's secret. The processes needn't agree on one then. Restore brings back
// that of another server.
func (s *Server) MakeSecret() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.space[SecretKey] = NewSecret()
}
