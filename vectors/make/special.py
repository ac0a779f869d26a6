from pathlib import Path
def special(root): return []
