-- Version 8: smaller files and fewer pages for each write.

-- Vectors. The tables of vectors are rewritten with an int8 for each number and a scale
-- (QuantizeVectors).
SELECT 1;
