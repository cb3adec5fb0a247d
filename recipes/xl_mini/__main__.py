"""Run the stages of the recipe; see :mod:`recipes.xl_mini`."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

import recipes.xl_mini
from benchmarks.common.report import about, save
from nymlink.encode.model.folder import MINI
from recipes.xl_mini.stages import BY_STUDENT, STAGES, Recipe, result

NAME = "python -m recipes.xl_mini"


def main() -> None:
    """Run the stages that are asked for."""
    parser = argparse.ArgumentParser(
        prog=NAME, description=recipes.xl_mini.__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path, help="where everything is kept")
    parser.add_argument("--base", default=MINI, help="the teacher of English")
    parser.add_argument("--e5", required=True, help="multilingual-e5-small, as nymlink loads it")
    parser.add_argument("--data", type=Path, default=Path("../shared/data"), help="vocabularies/, multilingual/")
    parser.add_argument(
        "--student", choices=list(BY_STUDENT), default="e5", help="six layers of E5, or one layer over pieces"
    )
    parser.add_argument("--beside", type=Path, help="encoder of one layer that is joined with the student of E5")
    parser.add_argument("--steps", type=int, default=1000, help="of distillation; one takes two seconds")
    parser.add_argument("--align-steps", type=int, default=300, help="of self-alignment, as long")
    parser.add_argument("--seed", type=int, default=0, help="of all that is drawn")
    parser.add_argument(
        "--only",
        nargs="+",
        choices=list(STAGES),
        metavar="STAGE",
        help="stages to run; by default those that make and measure the student",
    )
    parser.add_argument("--json", type=Path, help="also write the figures to this file")
    arguments = parser.parse_args()
    folder: Path = arguments.folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    recipe = Recipe(
        folder=folder,
        data=arguments.data.resolve(),
        base=arguments.base,
        e5=arguments.e5,
        student=arguments.student,
        beside=arguments.beside and arguments.beside.resolve(),
        steps=arguments.steps,
        align_steps=arguments.align_steps,
        seed=arguments.seed,
    )
    for name, stage in STAGES.items():
        if name in (arguments.only or BY_STUDENT[recipe.student]):
            print(name, flush=True)
            stage(recipe)
    told = about(
        command=f"{NAME} {' '.join(sys.argv[1:])}",
        data="HPO: every second concept; ICD-10: every tenth code; English names searched",
        split=None,
        dictionary="HPO, ICD-10: English names",
        counting="Acc@1, vectors alone where a row does not say hybrid",
        encoder="nymlink-xl-mini" if recipe.student == "e5" else "one layer over pieces",
        seed=recipe.seed,
    )
    # Tokenizers were compared by another run.
    before = json.loads(arguments.json.read_text("utf-8")) if arguments.json and arguments.json.exists() else {}
    parts = {
        **before.get("about", {}).get("parts", {}),
        "translations": {"data": "open tables", "dictionary": None, "counting": "pairs"},
        "tokens": {
            "data": "names learned, at most 2,000 a language",
            "dictionary": None,
            "counting": "tokens a name, percent of names with an unknown piece",
        },
        "speed": {"data": "names learned, 1,000 a language", "dictionary": None, "counting": "names a second"},
    }
    parts["tables"] = parts["translations"]
    save(arguments.json, {**before, "about": {**told, "parts": parts}, **result(recipe)})


if __name__ == "__main__":
    main()
