// Package group is membership for programs without MPI: who is in, agreed upon by
// all, one view after the other.
package group
