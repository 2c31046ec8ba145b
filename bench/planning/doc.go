// Package planning compares what banyan plan replication computes with jobs that really lose
// processes. It has only tests.
package planning
