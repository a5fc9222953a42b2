"""One number for a leaf: squared errors, quantiles and deviances, and the regression tree."""
