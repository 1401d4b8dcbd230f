"""The competition's repertoire for `provider: rules`: scikit-learn scripts, drafted, changed, merged and repaired.

Not a language model: a recipe (target transform, features, models, weights) drawn and changed at random by seed, and
rendered as a script in the sections DATA, FEATURES, MODEL, TRAIN, PREDICT.
"""
