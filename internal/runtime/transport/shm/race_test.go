//go:build race

package shm

func init() { raceEnabled = true }
