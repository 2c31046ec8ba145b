package secure

import (
	"crypto/sha256"
	"debug/elf"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"sync"
)

// Build identifies this program: two programs have the same one if they were compiled from the
// same source by the same compiler. Launcher and agents must be the same build, because nothing
// promises that builds of different days mean the same by their messages.
var Build = sync.OnceValue(func() string {
	const self = "/proc/self/exe"
	if id := goBuildID(self); id != "" {
		return id
	}
	id, err := fileSum(self)
	if err != nil {
		return "unknown"
	}
	return id
})

// goBuildID is the digest of the program's content that the Go linker has written into it.
func goBuildID(path string) string {
	f, err := elf.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	section := f.Section(".note.go.buildid")
	if section == nil {
		return ""
	}
	note, err := section.Data()
	const head = 16 // three numbers of four bytes, and the name "Go"
	if err != nil || len(note) <= head {
		return ""
	}
	size := f.ByteOrder.Uint32(note[4:])
	if size == 0 || uint64(size) > uint64(len(note)-head) { // the end may be padding
		return ""
	}
	sum := sha256.Sum256(note[head : head+size])
	return hex.EncodeToString(sum[:8])
}

func fileSum(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", fmt.Errorf("this program: %w", err)
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", fmt.Errorf("this program: %w", err)
	}
	return hex.EncodeToString(h.Sum(nil)[:8]), nil
}
