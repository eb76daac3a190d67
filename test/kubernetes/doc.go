// Package kubernetes holds the manifests in packaging/kubernetes to the API's types, and runs what their Job runs. It is a module of its own
// because the API's types are large.
package kubernetes
