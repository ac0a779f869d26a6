"""The surface for plugins, by role. Every name of these six modules stays; see docs/plugins.md."""

__all__ = ["check", "detector", "engine", "remedy", "report", "sentences"]
