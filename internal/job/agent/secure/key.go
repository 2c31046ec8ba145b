// Package secure is how the launcher of a job and its agents on other hosts know each other, and
// how nobody else gets in: a job key, TLS 1.3 with keys that are made from it, and the check that
// both sides are the same build.
//
// # Keys
//
// A [Key] is 32 random bytes, made for one job. It reaches an agent by a stream, such as the stdin
// of ssh, or by a mounted file, never by an argument or a variable of the environment: other users
// of the host could read the first, and the ranks would inherit the second. HKDF (RFC 5869, with
// SHA-256) derives an Ed25519 key for each role from it: for the launcher, and for each agent by
// its number.
//
// # Connections
//
// A connection is TLS 1.3 and no other version. Both sides show a certificate that they have
// signed themselves. Its names and dates mean nothing. What counts is its public key: it must be
// the one that this side derives for the other's role. There is no authority, and no session is
// resumed.
//
// # Invariants
//
//   - [Accept] and [Dial] return a connection only if the other side holds the job's key and plays
//     the other role.
//   - The text of an error never contains a key.
//
// # Limits
//
// All that hold the job's key are equal: an agent could derive the launcher's key. So the ranks
// must never get it. The user that runs the job, and root, can read it in the agent's memory.
package secure

import (
	"crypto/ed25519"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"syscall"
)

// keySize is the length of a job key in bytes.
const keySize = 32

// Key is the key of a job. It prints as "(job key)", however it is printed.
type Key struct{ secret [keySize]byte }

// NewKey makes a random key.
func NewKey() (k Key) {
	rand.Read(k.secret[:])
	return k
}

// Line is the key as a line of text, for ReadKey at the other end of a stream.
func (k Key) Line() []byte { return append(hex.AppendEncode(nil, k.secret[:]), '\n') }

// Format implements fmt.Formatter, so that no message shows the key.
func (k Key) Format(f fmt.State, _ rune) { io.WriteString(f, "(job key)") }

// MarshalText refuses, so that no encoder shows the key.
func (k Key) MarshalText() ([]byte, error) { return nil, errors.New("a job key is not to be shown") }

// MAC proves that what is written to it comes from a holder of the key (HMAC with SHA-256). Each
// purpose has a key of its own.
func (k Key) MAC(purpose string) hash.Hash {
	derived, err := hkdf.Key(sha256.New, k.secret[:], nil, "banyan proofs 1: "+purpose, keySize)
	if err != nil {
		panic("secure: " + err.Error()) // it is short enough
	}
	return hmac.New(sha256.New, derived)
}

// ReadKey reads the line of a key. It reads no byte behind the line.
func ReadKey(r io.Reader) (k Key, err error) {
	line := make([]byte, 0, 2*keySize+1)
	for b := make([]byte, 1); ; {
		if _, err := io.ReadFull(r, b); err != nil {
			if len(line) > 0 && errors.Is(err, io.EOF) {
				break // a file without the line's end
			}
			if errors.Is(err, io.EOF) {
				return k, errors.New("there is no job key: nothing was given")
			}
			return k, fmt.Errorf("the job key can't be read: %w", err)
		}
		if b[0] == '\n' {
			break
		}
		if line = append(line, b[0]); len(line) > 2*keySize {
			return k, errNoKey
		}
	}
	if len(line) != 2*keySize {
		return k, errNoKey
	}
	if _, err := hex.Decode(k.secret[:], line); err != nil {
		return Key{}, errNoKey
	}
	return k, nil
}

var errNoKey = fmt.Errorf("this is no job key: a key is a line of %d hexadecimal digits", 2*keySize)

// ReadKeyFile reads the key from a file. The file must be ours or root's, and only its owner may
// have access. Others of its group may read it if it is root's, as it is in a Kubernetes Secret
// that is mounted for a group.
func ReadKeyFile(path string) (k Key, err error) {
	f, err := os.Open(path)
	if err != nil {
		return k, fmt.Errorf("the job key: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return k, fmt.Errorf("the job key: %w", err)
	}
	owner, mode := info.Sys().(*syscall.Stat_t).Uid, info.Mode().Perm()
	allowed := os.FileMode(0o700)
	if owner == 0 {
		allowed = 0o740
	}
	switch {
	case owner != 0 && owner != uint32(os.Geteuid()):
		return k, fmt.Errorf("the job key in %s isn't used: the file is user %d's, who could read it or change it", path, owner)
	case mode&^allowed != 0:
		return k, fmt.Errorf("the job key in %s isn't used: others have access to it (mode %04o); chmod 600 it and make a new key", path, mode)
	}
	if k, err = ReadKey(f); err != nil {
		return k, fmt.Errorf("%s: %w", path, err)
	}
	return k, nil
}

// role is a side of a connection.
type role string

const launcher role = "launcher"

// agent is the role of the agent of a number.
func agent(number int) role { return role(fmt.Sprintf("agent %d", number)) }

// signer is the key of a role.
func (k Key) signer(r role) ed25519.PrivateKey {
	seed, err := hkdf.Key(sha256.New, k.secret[:], nil, "banyan agents 1: "+string(r), ed25519.SeedSize)
	if err != nil {
		panic(err) // impossible: the length is allowed
	}
	return ed25519.NewKeyFromSeed(seed)
}

// public is the public key of a role.
func (k Key) public(r role) ed25519.PublicKey { return k.signer(r).Public().(ed25519.PublicKey) }
