package parquet

import "encoding/binary"

// Thrift's compact protocol
// (https://github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md), as far as
// Parquet's headers and index need it.

// A wire is a type of the protocol.
type wire byte

const (
	yes       wire = 1 // a boolean is its type
	no        wire = 2
	int8Wire  wire = 3
	int32Wire wire = 5
	int64Wire wire = 6
	binaryOne wire = 8
	listOne   wire = 9
	structure wire = 12
)

// Fields of the format's structures, by their numbers in parquet.thrift.
const (
	// FileMetaData
	fileVersion, schemaElements, fileRows, fileGroups, fileCreator, fileOrders = 1, 2, 3, 4, 6, 7
	// SchemaElement
	elementType, elementRepetition, elementName, elementChildren, elementConverted, elementLogical = 1, 3, 4, 5, 6, 10
	// LogicalType, IntType
	logicalString, logicalInteger, integerWidth, integerSigned = 1, 10, 1, 2
	// RowGroup
	groupColumns, groupBytes, groupRows, groupOffset, groupCompressed = 1, 2, 3, 5, 6
	// ColumnChunk
	chunkOffset, chunkMeta = 2, 3
	// ColumnMetaData
	metaType, metaEncodings, metaPath, metaCodec, metaValues, metaBytes, metaCompressed, metaData, metaDictionary, metaStatistics = 1, 2, 3, 4, 5, 6, 7, 9, 11, 12
	// Statistics
	statNulls, statMax, statMin = 3, 5, 6
	// PageHeader
	pageType, pageBytes, pageCompressed, pageData, pageDictionary = 1, 2, 3, 5, 7
	// DataPageHeader; DictionaryPageHeader has the first two
	headerValues, headerEncoding, headerDefinition, headerRepetition = 1, 2, 3, 4
	// ColumnOrder
	orderByType = 1
)

// thrift is an encoder.
type thrift struct {
	out  []byte
	last []int // the field before, in each open structure
}

func (t *thrift) begin() { t.last = append(t.last, 0) }

func (t *thrift) end() {
	t.out = append(t.out, 0)
	t.last = t.last[:len(t.last)-1]
}

// field begins a field of the open structure. Fields come in the order of their numbers.
func (t *thrift) field(id int, w wire) {
	before := &t.last[len(t.last)-1]
	if step := id - *before; step < 16 {
		t.out = append(t.out, byte(step)<<4|byte(w))
	} else {
		t.out = append(t.out, byte(w))
		t.out = binary.AppendVarint(t.out, int64(id))
	}
	*before = id
}

func (t *thrift) i8(id int, v int8) {
	t.field(id, int8Wire)
	t.out = append(t.out, byte(v))
}

func (t *thrift) i32(id int, v int64) {
	t.field(id, int32Wire)
	t.out = binary.AppendVarint(t.out, v)
}

func (t *thrift) i64(id int, v int64) {
	t.field(id, int64Wire)
	t.out = binary.AppendVarint(t.out, v)
}

func (t *thrift) boolean(id int, v bool) {
	if v {
		t.field(id, yes)
	} else {
		t.field(id, no)
	}
}

func (t *thrift) text(id int, s string) {
	t.field(id, binaryOne)
	t.element(s)
}

// element is a text in a list.
func (t *thrift) element(s string) {
	t.out = binary.AppendUvarint(t.out, uint64(len(s)))
	t.out = append(t.out, s...)
}

// list begins a list of n elements, which follow.
func (t *thrift) list(id int, of wire, n int) {
	t.field(id, listOne)
	if n < 15 {
		t.out = append(t.out, byte(n)<<4|byte(of))
		return
	}
	t.out = append(t.out, 0xf0|byte(of))
	t.out = binary.AppendUvarint(t.out, uint64(n))
}
