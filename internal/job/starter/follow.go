package starter

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"syscall"

	"banyan/internal/job/agent"
	"banyan/internal/job/agent/remote"
	"banyan/internal/job/agent/secure"
)

// Follow reads an order from in, and is the agent that it orders until that ends. It tells the
// console on out. It changes the directory and the umask of this process. charge is told what the
// agent's parent is to say when the agent has died.
func Follow(ctx context.Context, in io.Reader, out io.Writer, charge func(remote.Testimony)) error {
	if err := (word{Kind: hello}).write(out); err != nil {
		return err
	}
	err := obey(ctx, in, out, charge)
	if err != nil {
		word{Kind: failed, Text: err.Error()}.write(out)
	}
	return err
}

func obey(ctx context.Context, in io.Reader, out io.Writer, charge func(remote.Testimony)) error {
	o, key, err := readOrder(in)
	if err != nil {
		return err
	}
	if err := o.check(); err != nil {
		return err
	}
	syscall.Umask(o.Umask)
	local, err := agent.NewLocal()
	if err != nil {
		return err
	}
	return remote.Serve(ctx, remote.Config{Addresses: o.Connect, Number: o.Number, Key: key, Agent: local, Charge: charge,
		Begun: func() { word{Kind: ready}.write(out) }})
}

// check enters the directory, and checks that banyan and the programs are those of the console.
func (o *Order) check() error {
	if here := secure.Build(); here != o.Build {
		self, _ := os.Executable()
		return fmt.Errorf("%s is another build of banyan (%s) than the console's (%s): copy that one there", self, here, o.Build)
	}
	if err := os.Chdir(o.Dir); err != nil {
		return fmt.Errorf("programs can't start in %s: %w: use a directory that all hosts have (--wdir)", o.Dir, errors.Unwrap(err))
	}
	for _, f := range o.Files {
		path, err := exec.LookPath(f.Path)
		if err != nil {
			path = f.Path
		}
		switch sum, err := Sum(path); {
		case errors.Is(err, fs.ErrNotExist):
			return fmt.Errorf("there is no %s: copy it there, or use a file system that all hosts share", f.Path)
		case err != nil:
			return err
		case sum != f.Sum:
			return fmt.Errorf("%s isn't the program that the console has (SHA-256 %.12s…, and %.12s… at the console): copy it there", f.Path, sum, f.Sum)
		}
	}
	return nil
}

// Sum is the SHA-256 of a file, in hexadecimal digits.
func Sum(path string) (string, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	h := sha256.New()
	if _, err := io.Copy(h, file); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
