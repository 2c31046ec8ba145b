package parquet

import (
	"fmt"
	"reflect"
	"strings"
)

// A physical type is how values are stored. The numbers are the format's.
type physical int64

const (
	int32Type     physical = 1
	int64Type     physical = 2
	byteArrayType physical = 6
)

// A column is a field of a row.
type column struct {
	name       string
	field      int
	kind       reflect.Kind // of the field, or of what it points to
	optional   bool
	dictionary bool
}

func (c *column) physical() physical {
	switch c.kind {
	case reflect.Int32:
		return int32Type
	case reflect.String:
		return byteArrayType
	default:
		return int64Type
	}
}

// columns are those of a row's type.
func columns(row reflect.Type) (all []column, err error) {
	if row.Kind() != reflect.Struct {
		return nil, fmt.Errorf("a row is a struct, not a %v", row)
	}
	for i := range row.NumField() {
		f := row.Field(i)
		tag, tagged := f.Tag.Lookup("parquet")
		if !tagged || !f.IsExported() {
			return nil, fmt.Errorf("the field %v.%s has no column", row, f.Name)
		}
		name, options, _ := strings.Cut(tag, ",")
		c := column{name: name, field: i, kind: f.Type.Kind()}
		if c.kind == reflect.Pointer {
			c.optional, c.kind = true, f.Type.Elem().Kind()
		}
		for option := range strings.SplitSeq(options, ",") {
			switch option {
			case "":
			case "dict":
				c.dictionary = true
			case "optional":
				if !c.optional {
					return nil, fmt.Errorf("column %s is optional, but the field isn't a pointer", name)
				}
			default:
				return nil, fmt.Errorf("column %s: there is no option %s", name, option)
			}
		}
		switch c.kind {
		case reflect.Int32, reflect.Int64, reflect.Uint64, reflect.String:
		default:
			return nil, fmt.Errorf("column %s can't be a %v", name, f.Type)
		}
		if c.dictionary && c.kind != reflect.String {
			return nil, fmt.Errorf("column %s has no text for a dictionary", name)
		}
		all = append(all, c)
	}
	return all, nil
}

// writeSchema writes the schema as a list of elements: the row, then its columns.
func writeSchema(t *thrift, row string, all []column) {
	t.list(schemaElements, structure, 1+len(all))
	t.begin()
	t.text(elementName, row)
	t.i32(elementChildren, int64(len(all)))
	t.end()
	for i := range all {
		c := &all[i]
		t.begin()
		t.i32(elementType, int64(c.physical()))
		repetition := int64(0) // required
		if c.optional {
			repetition = 1
		}
		t.i32(elementRepetition, repetition)
		t.text(elementName, c.name)
		// What values mean is said twice, for readers before and after 2018.
		converted := map[reflect.Kind]int64{reflect.String: 0, reflect.Uint64: 14, reflect.Int32: 17, reflect.Int64: 18}
		t.i32(elementConverted, converted[c.kind])
		t.field(elementLogical, structure)
		t.begin()
		if c.kind == reflect.String {
			t.field(logicalString, structure)
			t.begin()
			t.end()
		} else {
			width := int8(64)
			if c.kind == reflect.Int32 {
				width = 32
			}
			t.field(logicalInteger, structure)
			t.begin()
			t.i8(integerWidth, width)
			t.boolean(integerSigned, c.kind != reflect.Uint64)
			t.end()
		}
		t.end()
		t.end()
	}
}
