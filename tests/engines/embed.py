"""Embeds texts for tests: reads {"texts": [...]}, writes {"vectors": [...]}.

    embed.py [VARIANT]

Vectors follow from the words of a text and from the variant, and have the same length in every variant.
"""
import hashlib
import json
import math
import sys

DIMENSIONS = 64


def embed(text, variant=0):
    vector = [0.0] * DIMENSIONS
    for word in "".join(c.lower() if c.isalnum() else " " for c in text).split():
        digest = hashlib.sha256(f"{variant}:{word}".encode()).digest()
        for at in range(0, 16, 2):
            vector[digest[at] % DIMENSIONS] += 1.0 if digest[at + 1] % 2 else -1.0
    norm = math.sqrt(sum(x * x for x in vector)) or 1.0
    return [x / norm for x in vector]


if __name__ == "__main__":
    variant = int(sys.argv[1]) if len(sys.argv) > 1 else 0
    texts = json.load(sys.stdin)["texts"]
    json.dump({"vectors": [embed(text, variant) for text in texts]}, sys.stdout)
