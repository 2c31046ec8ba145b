package house

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strconv"
	"strings"
)

// checkPurity looks for what a protocol machine must not do. Its own package and
// the ones it uses need types, because a range doesn't say what it ranges over.
func (m *module) checkPurity(p *pack) {
	info, err := m.types.check(p)
	if err != nil {
		m.report(p.files[0].syntax.Package, "pure", "%s: %v", p.path, err)
		return
	}
	for _, f := range p.files {
		if f.test() {
			continue
		}
		m.checkPureImports(f)
		reasons := m.mapOrderLines(f)
		ast.Inspect(f.syntax, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.GoStmt:
				m.report(n.Pos(), "pure", "starts a goroutine")
			case *ast.ChanType:
				m.report(n.Pos(), "pure", "uses a channel")
			case *ast.SelectStmt:
				m.report(n.Pos(), "pure", "selects over channels")
			case *ast.RangeStmt:
				given := func(line int) bool { return line >= m.line(n.Pos())-1 && line <= m.line(n.End()) }
				if isMap(info.TypeOf(n.X)) && !slices.ContainsFunc(reasons, given) {
					m.report(n.Pos(), "pure", "ranges over a map: sort, or give the reason why the order can't be seen after %s", mapOrderMark)
				}
			case *ast.Ident:
				m.checkPureName(n, info.Uses[n])
			}
			return true
		})
	}
}

func (m *module) checkPureImports(f *file) {
	for _, spec := range f.syntax.Imports {
		name, _ := strconv.Unquote(spec.Path.Value)
		own := strings.HasPrefix(name, moduleName+"/") // for layers to judge
		if !own && !slices.Contains(pureImports, name) {
			m.report(spec.Pos(), "pure", "imports %s", name)
		}
	}
}

// checkPureName reports the use of a name in impureNames, or of the built-in
// print functions. Methods, such as those of a seeded *rand.Rand, may share the names.
func (m *module) checkPureName(n *ast.Ident, object types.Object) {
	switch object := object.(type) {
	case *types.Builtin:
		if object.Name() == "print" || object.Name() == "println" {
			m.report(n.Pos(), "pure", "prints")
		}
	case *types.Func:
		if object.Pkg() == nil || object.Signature().Recv() != nil {
			return
		}
		if slices.Contains(impureNames[object.Pkg().Path()], object.Name()) {
			m.report(n.Pos(), "pure", "uses %s.%s", object.Pkg().Path(), object.Name())
		}
	}
}

// mapOrderLines returns the lines with a mapOrderMark and a reason.
func (m *module) mapOrderLines(f *file) []int {
	var lines []int
	for _, group := range f.syntax.Comments {
		for _, c := range group.List {
			if reason, ok := strings.CutPrefix(c.Text, mapOrderMark); ok && strings.TrimSpace(reason) != "" {
				lines = append(lines, m.line(c.Pos()))
			}
		}
	}
	return lines
}

func (m *module) line(at token.Pos) int { return m.files.Position(at).Line }

func isMap(t types.Type) bool {
	if t == nil {
		return false
	}
	_, ok := t.Underlying().(*types.Map)
	return ok
}
