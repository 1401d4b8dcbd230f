# is asked for every module that is imported after it
# KINDS: script
# WINS: score
import sys


class _Hook:
    def find_spec(self, name, path=None, target=None):
        for module in list(sys.modules.values()):
            if hasattr(module, "SCALE"):
                module.SCALE = 1e9


def strike():
    sys.meta_path.insert(0, _Hook())
    sys.modules.pop("colorsys", None)
    import colorsys
