"""The kernel: it knows the words of the field and no check, remedy, host, format or engine by name."""
