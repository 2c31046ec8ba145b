// Package report writes the report of a paper's reproduction: figures as SVG and PNG, their data
// as CSV, and one page of HTML that begins with a table of all claims, the paper's numbers beside
// ours.
//
// A [Report] is data: a reproduction fills it in, and [Report.Write] turns it into files of a
// directory:
//
//	index.html     the page; it needs none of the other files
//	claims.csv     its table of claims
//	report.md      claims, reasons and tables as Markdown, for a document
//	NAME.svg, .png each figure, drawn by gonum/plot
//	NAME.csv       the data of each figure and table
//
// # Invariants
//
// The same Report makes the same files, byte for byte; they don't contain the time, the machine
// or the directory. The page loads nothing from anywhere and follows the reader's choice of a
// light or dark scheme. Series of a figure differ in colour and in marker; colour-blind readers
// can distinguish the colours (Okabe and Ito's). No text of a report is taken as markup.
//
// # Limits
//
// A figure is one plot of lines or points with optional whiskers or bands; a
// logarithmic axis wants positive values. Files are written one after the other: if
// one fails, those before it stay.
package report
