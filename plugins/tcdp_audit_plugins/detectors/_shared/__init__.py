"""What several families of detectors share: random texts, and checksums."""
