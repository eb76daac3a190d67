// Command notice writes what goes out beside the binaries: NOTICE, with the licence of every module that is linked into one of them, and,
// given the SBOM that cyclonedx-gomod made of the distribution, the same with these licences and nothing in it that changes from build to
// build. A module whose licence it does not know is an error: packaging/licences.yaml names such by hand.
package main
