// Package cli is what the commands share: exit codes, flags, files and interruption.
package cli
