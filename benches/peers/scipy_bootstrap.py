#!/usr/bin/env python3
"""Times scipy's percentile bootstrap of the same lower bound that `cargo bench --bench statistics` times.

    python3 benches/peers/scipy_bootstrap.py [QUESTIONS ...]     (default: 400 10000)

One million questions would need 50,000 x 1,000,000 numbers: scipy draws in batches, and takes hours.
"""
import sys
import time

import numpy
import scipy.stats

STUDY = {1.0: 40, 0.5: 11, 0.0: 339, -0.25: 2, -0.5: 8}
DRAWS = 50_000


def main():
    for questions in [int(argument) for argument in sys.argv[1:]] or [400, 10_000]:
        data = numpy.repeat(list(STUDY), [count * questions // 400 for count in STUDY.values()])
        start = time.perf_counter()
        found = scipy.stats.bootstrap(
            (data,),
            numpy.mean,
            method="percentile",
            alternative="greater",
            confidence_level=0.95,
            n_resamples=DRAWS,
            batch=max(1, 20_000_000 // len(data)),
            rng=numpy.random.default_rng(1),
        )
        elapsed = time.perf_counter() - start
        print(f"{questions} questions: lower bound {100 * found.confidence_interval.low:.4f} pp in {elapsed:.2f} s")


if __name__ == "__main__":
    main()
