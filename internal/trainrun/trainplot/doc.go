// Package trainplot draws curves as SVG: series in, text out, the same text for the same series on every machine. A drawing needs nothing
// besides itself, is readable on a light and on a dark page, and holds names as text only, whatever they are.
package trainplot
