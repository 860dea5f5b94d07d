-- Version 8: smaller files and fewer pages for each write.

-- The tables of vectors are rewritten: an int8 for each number (QuantizeVectors).
