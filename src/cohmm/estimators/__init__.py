"""Estimators: shells with scikit-learn's and hmmlearn's interfaces over learners and models."""
