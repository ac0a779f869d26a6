"""Charts: drawings with the words around them and the figures behind them, chosen by the form of the figures."""
