// Package parquet writes flat tables as Parquet files, for data frames and SQL engines.
//
// A row is a struct; its fields' tags name the columns, in order:
//
//	type row struct {
//		Procs int32   `parquet:"procs"`
//		Tree  string  `parquet:"tree,dict"`    // few different values: they are written once
//		K     *int32  `parquet:"k,optional"`   // nil is null
//	}
//
// The format is Apache's (https://parquet.apache.org/docs/file-format/, parquet.thrift of release
// 2.11). A file has row groups. A row group has for each column one data page (version 1), behind
// its dictionary if the column has one. Values are plain, or indices of the dictionary. Definition
// levels and indices are run lengths or packed bits. Pages are compressed with gzip. The index at
// the end has each column's type, its smallest and its largest value in each row group, and its
// number of nulls. The same rows give the same bytes, as long as compress/gzip does.
//
// deploy/formats reads what this package writes with another library.
//
// # Limits
//
// Fields are int32, int64, uint64, string or pointers to one. There are no nested columns, no page
// indices, no Bloom filters, no checksums.
package parquet
