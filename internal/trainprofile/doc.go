// Package trainprofile maps what training frameworks write onto the vocabulary of trainrecord. What a framework writes is
// data: a profile, a YAML file in a small language that README.md describes. The package contains the language (parser,
// checks, JSON Schema), the engine that applies it, and the profiles that are embedded. No framework's name is in Go code.
package trainprofile
