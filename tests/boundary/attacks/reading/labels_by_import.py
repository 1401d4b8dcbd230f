# imports the evaluator by its name and by its path
# KINDS: script
# WINS: score
import importlib.util, sys


def strike():
    sys.path.insert(0, "@HERE@")
    try:
        import evaluator
    except ImportError:
        spec = importlib.util.spec_from_file_location("evaluator2", "@EVALUATOR@")
        evaluator = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(evaluator)
    return "\n".join("%d,%d," % pair for pair in enumerate(evaluator.truth()))
