// Package docs holds the pages to what there is: links lead somewhere, configurations are valid, commands exist.
package docs
