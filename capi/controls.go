package main

import (
	"os"
	"runtime"
	"slices"
	"strings"

	"banyan/internal/job/env"
	"banyan/internal/mpi/tool"
)

// controls are the job's settings as MPI_T shows them. The launcher has told them to all processes;
// a program may set its own of those that have no other source before MPI_Init.
func controls() []tool.Control {
	return []tool.Control{
		choice("transport", "which media carry messages: auto is shared memory within a host and TCP between hosts", tool.Transport, env.Transport,
			env.TransportAuto, env.TransportSHM, env.TransportTCP, env.TransportInproc),
		choice("encrypt", "which connections are encrypted", tool.Transport, env.Encrypt, env.EncryptNone, env.EncryptHosts, env.EncryptTCP),
		number("cores", "cores of the host that the job's processes share", tool.Transport, func() int {
			n, err := env.Positive(env.Cores, runtime.NumCPU())
			if err != nil {
				return 0
			}
			return n
		}),
		{
			Named: tool.Named{Name: "bcast", Description: "tree and correction of all broadcasts, as tree=lame,correction=checked, or auto; the same at all processes, before MPI_Init",
				Category: tool.Messages, Verbosity: tool.ForTuners},
			Type: tool.Text, Room: maxText,
			Read: func() tool.Value { return tool.Value{Text: withDefault(env.Bcast, env.BcastAuto)} },
			Write: func(v tool.Value) error {
				if _, err := env.ParseBcast(v.Text); err != nil {
					return tool.ErrValue
				}
				return os.Setenv(env.Bcast, v.Text)
			},
		},
		{
			Named: tool.Named{Name: "replicas", Description: "replicas of each rank, one number for all or one for each", Category: tool.Replication, Verbosity: tool.ForUsers},
			Type:  tool.Text, Room: maxText, Read: func() tool.Value { return tool.Value{Text: withDefault(env.Replicas, "1")} },
		},
		choice("protocol", "how replicas send", tool.Replication, env.Protocol, env.ProtocolParallel, env.ProtocolMirror),
		choice("order", "who decides what timing decides in a replicated job", tool.Replication, env.Order, env.OrderFree, env.OrderLeader, env.OrderAuto),
		choice("verify", "whether replicas compare what they send", tool.Replication, env.Verify, "false", "true"),
		seconds("heartbeat_period", "seconds between two heartbeats", func() float64 {
			period, _, err := env.ReadHeartbeats()
			if err != nil {
				return 0
			}
			return period.Seconds()
		}),
		seconds("heartbeat_timeout", "a process that is silent for so many seconds counts as dead", func() float64 {
			_, timeout, err := env.ReadHeartbeats()
			if err != nil {
				return 0
			}
			return timeout.Seconds()
		}),
	}
}

// maxText is the room of a text. Replicas of many ranks that differ are cut.
const maxText = 1024

// withDefault is the value of a variable; empty means the default.
func withDefault(variable, otherwise string) string {
	if v := os.Getenv(variable); v != "" {
		return v
	}
	return otherwise
}

// choice is a setting with named values, of which the first is the default.
func choice(name, description, category, variable string, values ...string) tool.Control {
	return tool.Control{
		Named: tool.Named{Name: name, Description: description + ": " + strings.Join(values, ", "), Category: category, Verbosity: tool.ForUsers},
		Type:  tool.Int, Enum: &tool.Enum{Name: name, Items: values},
		Read: func() tool.Value {
			return tool.Value{Int: int32(max(0, slices.Index(values, os.Getenv(variable))))}
		},
	}
}

func number(name, description, category string, read func() int) tool.Control {
	return tool.Control{
		Named: tool.Named{Name: name, Description: description, Category: category, Verbosity: tool.ForUsers},
		Type:  tool.Int, Read: func() tool.Value { return tool.Value{Int: int32(read())} },
	}
}

func seconds(name, description string, read func() float64) tool.Control {
	return tool.Control{
		Named: tool.Named{Name: name, Description: description, Category: tool.Detection, Verbosity: tool.ForUsers},
		Type:  tool.Double, Read: func() tool.Value { return tool.Value{Double: read()} },
	}
}
