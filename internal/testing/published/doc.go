// Package published tests what scripts/publish.sh makes: that a user's program which asks for the
// module by the path under which it is published gets it, from a proxy made of files into a module
// cache that is empty, builds against packages group and mpi alone, and runs.
//
// The program is the one with which the documentation of package mpi opens.
package published
