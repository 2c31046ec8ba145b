// Package replica runs every rank as several processes, its replicas, and masks
// their crashes from the program.
package replica
