"""Writes python/taeda/sobol_numbers.bin, the table of Joe and Kuo as python/taeda/quasirandom.py reads it, from SciPy's copy.

Run with SciPy: python3 tests/golden/sobol_numbers.py
"""
import pathlib

import numpy
import scipy.stats

DEGREES = 16


def main():
    table = numpy.load(pathlib.Path(scipy.stats.__file__).with_name("_sobol_direction_numbers.npz"))
    bits = ""
    for polynomial, numbers in list(zip(table["poly"].tolist(), table["vinit"].tolist()))[1:]:
        degree = polynomial.bit_length() - 1
        if degree > DEGREES:
            break
        bits += f"{polynomial:b}"[1:-1] + "".join(f"{numbers[i]:b}"[:-1].rjust(i, "0") for i in range(1, degree))
    data = int(bits.ljust(-(-len(bits) // 8) * 8, "0"), 2).to_bytes(-(-len(bits) // 8), "big")
    (pathlib.Path(__file__).parents[2] / "python/taeda/sobol_numbers.bin").write_bytes(data)


if __name__ == "__main__":
    main()
