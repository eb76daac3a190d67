// Package profiledoc writes the pages about frameworks: what is read, what it becomes, what is kept and what is not known. All
// of it comes from the profiles and from what the engine makes of their fixtures.
package profiledoc
