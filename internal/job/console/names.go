package console

import (
	"crypto/rand"
	"encoding/hex"
	"path/filepath"
	"strings"
)

// maxName bounds a job's name.
const maxName = 32

// NewName makes a name for a job that runs a program: the program's, and something that no other
// job has.
func NewName(program string) string {
	base := strings.Map(func(r rune) rune {
		if r < 0x80 && nameByte(byte(r)) {
			return r
		}
		return -1
	}, filepath.Base(program))
	base = strings.TrimLeft(base, "-.")
	if base = base[:min(len(base), maxName-7)]; base == "" {
		base = "job"
	}
	var random [3]byte
	rand.Read(random[:]) // never fails
	return base + "-" + hex.EncodeToString(random[:])
}

// nameByte says whether a byte may stand in a name: it is also that of a file, and an argument.
func nameByte(b byte) bool {
	return 'a' <= b && b <= 'z' || 'A' <= b && b <= 'Z' || '0' <= b && b <= '9' || strings.IndexByte("-._+", b) >= 0
}

func validName(name string) bool {
	if name == "" || len(name) > maxName || name[0] == '.' || name[0] == '-' {
		return false
	}
	for i := range len(name) {
		if !nameByte(name[i]) {
			return false
		}
	}
	return true
}
