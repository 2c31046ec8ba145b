// Package report writes what a reproduction of a paper leaves behind: figures as
// SVG and PNG, their data as CSV, and one page of HTML that begins with a table of
// all claims, the paper's numbers beside ours.
//
// A [Report] is data: whoever reproduces something fills it in, and [Report.Write]
// turns it into files of a directory:
//
//	index.html     the page; it needs none of the other files
//	claims.csv     its table of claims
//	NAME.svg, .png each figure, drawn by gonum/plot
//	NAME.csv       the data of each figure and table
//
// # Invariants
//
// The same Report makes the same files, byte for byte; nothing of the time, the
// machine or the directory gets into them. The page loads nothing from anywhere and follows the
// reader's choice of a light or dark scheme. Series of a figure differ in colour
// and in marker; the colours (Okabe and Ito's) are told apart by the colour-blind.
// Nothing of a report is taken as markup.
//
// # Limits
//
// A figure is one plot of lines or points with optional whiskers or bands; a
// logarithmic axis wants positive values. Files are written one after the other: if
// one fails, those before it stay.
package report
