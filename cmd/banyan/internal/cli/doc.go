// Package cli is what the commands share: exit codes, flags, files, interruption, progress bars.
package cli
