// Package mcpserver answers agents over the Model Context Protocol: four tools that read, and nothing that writes. Texts of
// trainers are values of fields that the schema marks, never a part of a description.
package mcpserver
