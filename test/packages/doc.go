// Package packages installs what make package and make image build, where nothing else is: a clean Debian 12 root and an unpacked image.
package packages
