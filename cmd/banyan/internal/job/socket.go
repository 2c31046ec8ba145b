package job

import (
	"log/slog"
	"os"
	"time"

	"banyan/internal/job/console"
	"banyan/internal/job/launcher"
)

// describeJob describes a job that is about to start.
func describeJob(name string, c launcher.Config) console.Info {
	command := append([]string{c.Program}, c.Args...)
	for _, p := range c.More {
		command = append(append(command, ":", p.Program), p.Args...)
	}
	host, _ := os.Hostname() // it is only shown
	return console.Info{Name: name, Command: command, Begun: time.Now(), PID: os.Getpid(), Launcher: host}
}

// openSocket makes the socket of a job that this process launches and shows. It returns nil if
// there is no place for one: the job runs all the same, and can't be asked for.
func openSocket(c launcher.Config) *console.Server {
	folder, err := console.MakeFolder()
	if err == nil {
		server := console.NewServer(describeJob(console.NewName(c.Program), c), nil)
		if err = folder.Listen(server); err == nil {
			return server
		}
	}
	slog.Debug("the job has no socket", "error", err)
	return nil
}
