package binding

import (
	"fmt"
	"sync"
)

// addedCodes are the classes and codes that the program added, above
// MPI_ERR_LASTCODE.
type addedCodes struct {
	mu    sync.Mutex
	codes map[Code]*addedCode
	last  int32 // the value of MPI_LASTUSEDCODE
}

type addedCode struct {
	class   Code // its own number, if it is a class
	members int  // number of codes, if it is a class
	text    string
}

// classOf gives a code's class.
func (a *addedCodes) classOf(code Code) (Code, bool) {
	if _, ok := classes[code]; ok {
		return code, true
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if c := a.codes[code]; c != nil {
		return c.class, true
	}
	return ErrUnknown, false
}

// describe gives the text of a code.
func (a *addedCodes) describe(code Code) (string, bool) {
	if c, ok := classes[code]; ok {
		return c[0] + ": " + c[1], true
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if c := a.codes[code]; c != nil {
		return c.text, true
	}
	return fmt.Sprintf("%d is no error code", code), false
}

// add makes a code of a class, or for class 0 a new class. Numbers aren't used twice.
func (a *addedCodes) add(class Code) (Code, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.last >= int32(raisedCode)-1 {
		return 0, false
	}
	if owner := a.codes[class]; class != 0 && owner != nil {
		if owner.class != class {
			return 0, false // it is a code, not a class
		}
		owner.members++
	} else if _, predefined := classes[class]; class != 0 && !predefined {
		return 0, false
	}
	if a.codes == nil {
		a.codes = map[Code]*addedCode{}
	}
	a.last++
	code := Code(a.last)
	if class == 0 {
		class = code
	}
	a.codes[code] = &addedCode{class: class}
	return code, true
}

// remove removes a class without codes (isClass), or a code.
func (a *addedCodes) remove(code Code, isClass bool) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	c := a.codes[code]
	if c == nil || (c.class == code) != isClass || c.members > 0 || c.text != "" {
		return false
	}
	if owner := a.codes[c.class]; owner != nil && !isClass {
		owner.members--
	}
	delete(a.codes, code)
	return true
}

// setText sets the text of a code; the empty text removes it.
func (a *addedCodes) setText(code Code, text string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	c := a.codes[code]
	if c == nil || text == "" && c.text == "" {
		return false
	}
	c.text = text
	return true
}

// ErrorClass is MPI_Error_class.
func (p *Process) ErrorClass(errorcode int32, errorclass *int32) Code {
	class, known := p.codes.classOf(Code(errorcode))
	if !known {
		return p.fail(nil, "MPI_Error_class", ErrArg, "%d is no error code", errorcode)
	}
	*errorclass = int32(class)
	return Success
}

// ErrorString is MPI_Error_string.
func (p *Process) ErrorString(errorcode int32, string_ *byte, resultlen *int32) Code {
	text, known := p.codes.describe(Code(errorcode))
	if !known {
		return p.fail(nil, "MPI_Error_string", ErrArg, "%s", text)
	}
	*resultlen = setString(string_, MaxErrorString, text)
	return Success
}

// AddErrorClass is MPI_Add_error_class.
func (p *Process) AddErrorClass(errorclass *int32) Code {
	code, done := p.codes.add(0)
	if !done {
		return p.fail(nil, "MPI_Add_error_class", ErrOther, "there are no more error codes")
	}
	*errorclass = int32(code)
	return Success
}

// AddErrorCode is MPI_Add_error_code.
func (p *Process) AddErrorCode(errorclass int32, errorcode *int32) Code {
	code, done := Code(0), false
	if errorclass != int32(Success) {
		code, done = p.codes.add(Code(errorclass))
	}
	if !done {
		return p.fail(nil, "MPI_Add_error_code", ErrArg, "%d is no error class", errorclass)
	}
	*errorcode = int32(code)
	return Success
}

// AddErrorString is MPI_Add_error_string.
func (p *Process) AddErrorString(errorcode int32, string_ *byte) Code {
	text := goString(string_)
	if len(text) >= MaxErrorString {
		return p.fail(nil, "MPI_Add_error_string", ErrArg, "the text has %d bytes, more than %d", len(text), MaxErrorString-1)
	}
	if _, known := p.codes.classOf(Code(errorcode)); !known || errorcode <= int32(ErrLastcode) {
		return p.fail(nil, "MPI_Add_error_string", ErrArg, "%d is no error code that the program has added", errorcode)
	}
	p.codes.setText(Code(errorcode), text)
	return Success
}

// RemoveErrorClass is MPI_Remove_error_class.
func (p *Process) RemoveErrorClass(errorclass int32) Code {
	if !p.codes.remove(Code(errorclass), true) {
		return p.fail(nil, "MPI_Remove_error_class", ErrArg, "%d is no error class that was added, or still has codes or a text", errorclass)
	}
	return Success
}

// RemoveErrorCode is MPI_Remove_error_code.
func (p *Process) RemoveErrorCode(errorcode int32) Code {
	if !p.codes.remove(Code(errorcode), false) {
		return p.fail(nil, "MPI_Remove_error_code", ErrArg, "%d is no error code that was added, or still has a text", errorcode)
	}
	return Success
}

// RemoveErrorString is MPI_Remove_error_string.
func (p *Process) RemoveErrorString(errorcode int32) Code {
	if !p.codes.setText(Code(errorcode), "") {
		return p.fail(nil, "MPI_Remove_error_string", ErrArg, "%d has no text that the program has added", errorcode)
	}
	return Success
}
