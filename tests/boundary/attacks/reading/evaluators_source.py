# reads the evaluator's source, to answer what it asks
# KINDS: script objects competition arena command writer
# WINS: said
def strike():
    return open("@EVALUATOR@").read()
