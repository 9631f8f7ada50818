"""DataFrame in, plotly Figure out: an info record (tested), then the drawing."""
