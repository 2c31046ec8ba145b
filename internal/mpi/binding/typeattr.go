package binding

import "unsafe"

// TypeCreateKeyval is MPI_Type_create_keyval.
func (p *Process) TypeCreateKeyval(typeCopyAttrFn, typeDeleteAttrFn uintptr, typeKeyval *int32, extraState uintptr) Code {
	*typeKeyval = p.keyvals.create(kindDatatype, typeCopyAttrFn, typeDeleteAttrFn, extraState)
	return Success
}

// TypeFreeKeyval is MPI_Type_free_keyval.
func (p *Process) TypeFreeKeyval(typeKeyval *int32) Code {
	return p.freeKeyval("MPI_Type_free_keyval", kindDatatype, typeKeyval)
}

// TypeSetAttr is MPI_Type_set_attr.
func (p *Process) TypeSetAttr(datatype Datatype, typeKeyval int32, attributeVal uintptr) Code {
	const function = "MPI_Type_set_attr"
	d := p.datatype(datatype)
	if d == nil || !p.live() {
		return p.noType(nil, function, datatype)
	}
	key := p.keyvals.find(kindDatatype, typeKeyval)
	if key == nil {
		return p.noKey(nil, function, typeKeyval)
	}
	if code := p.setAttribute(&d.attributes, uintptr(datatype), key, attributeVal); code != Success {
		return p.callbackFailed(nil, function, "delete", code)
	}
	return Success
}

// TypeGetAttr is MPI_Type_get_attr.
func (p *Process) TypeGetAttr(datatype Datatype, typeKeyval int32, attributeVal unsafe.Pointer, flag *int32) Code {
	const function = "MPI_Type_get_attr"
	d := p.datatype(datatype)
	if d == nil || !p.live() {
		return p.noType(nil, function, datatype)
	}
	e, found := d.attributes.get(typeKeyval)
	if !found && p.keyvals.find(kindDatatype, typeKeyval) == nil {
		return p.noKey(nil, function, typeKeyval)
	}
	if *flag = truth(found); found {
		*(*uintptr)(attributeVal) = e.value
	}
	return Success
}

// TypeDeleteAttr is MPI_Type_delete_attr.
func (p *Process) TypeDeleteAttr(datatype Datatype, typeKeyval int32) Code {
	const function = "MPI_Type_delete_attr"
	d := p.datatype(datatype)
	if d == nil || !p.live() {
		return p.noType(nil, function, datatype)
	}
	if _, found := d.attributes.get(typeKeyval); !found {
		return p.noKey(nil, function, typeKeyval)
	}
	if code := p.deleteAttribute(&d.attributes, uintptr(datatype), typeKeyval); code != Success {
		return p.callbackFailed(nil, function, "delete", code)
	}
	return Success
}
