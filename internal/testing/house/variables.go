package house

import (
	"go/ast"
	"go/token"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// variableName matches a string that is the name of an environment variable of ours, or begins
// with one and "=". A sentence that mentions a variable doesn't match.
var variableName = regexp.MustCompile(`^(BANYAN_[A-Z_]+)(=|$)`)

// checkVariables looks for names of environment variables outside the package that has them.
func (m *module) checkVariables(p *pack) {
	if p.path == variables {
		return
	}
	for _, f := range p.files {
		ast.Inspect(f.syntax, func(n ast.Node) bool {
			literal, is := n.(*ast.BasicLit)
			if !is || literal.Kind != token.STRING {
				return true
			}
			text, _ := strconv.Unquote(literal.Value) // the parser has checked it
			match := variableName.FindStringSubmatch(text)
			if match != nil && !isTestVariable(match[1]) {
				m.report(literal.Pos(), "variables", "%s: package %s has the names of environment variables", match[1], variables)
			}
			return true
		})
	}
}

func isTestVariable(name string) bool {
	return slices.ContainsFunc(testVariables, func(t string) bool { return strings.HasPrefix(name, t) })
}
