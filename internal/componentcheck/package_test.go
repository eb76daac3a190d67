package componentcheck

import "testing"

func TestMain(m *testing.M) { VerifyMain(m) }
