package binding

// Handles of the C interface. Values below firstHandle are the ABI's predefined ones. The
// others name entries of a table (table.go).
type (
	Comm       uintptr
	Group      uintptr
	Datatype   uintptr
	Op         uintptr
	Request    uintptr
	Info       uintptr
	Errhandler uintptr
	Message    uintptr
	Win        uintptr
	File       uintptr
	Session    uintptr
)

// Code is an error code: Success, a class of the standard, or one that the
// program added. A value from raisedCode on never reaches the program: it tells the
// C side to call an error handler first (errhandler.go).
type Code int32
