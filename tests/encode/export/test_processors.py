"""Int8 encoders give the same vectors on every processor, whatever is encoded beside a name."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
import onnxruntime
import pytest
from onnx import GraphProto, NodeProto, ValueInfoProto, numpy_helper

from nymlink.encode.encoder import Encoder
from nymlink.encode.model.folder import FOLDER, INT8
from nymlink.encode.model.tokenizer import load_tokenizer
from nymlink.encode.quantise import PRODUCT
from tests.index.small import many_names, vocabulary

ROOT = Path(__file__).parents[3]
XL_FOLDER = ROOT / "models" / "nymlink-xl-mini" / "src" / "nymlink_xl_mini" / "nymlink-xl-mini"

# Of up to 25 tokens, more than a register of AVX-512 has numbers.
LONG_NAMES = (
    "infarto de miocardio",
    "острый инфаркт миокарда",
    "急性心筋梗塞",
    "autosomal recessive spastic ataxia with leukoencephalopathy and pain in the left upper arm at night",
    "hypertrophic cardiomyopathy, dilated cardiomyopathy or another disease of the muscle of the heart, familial",
    "PARP1-dependent IL-6",
)
NAMES = [*(ROOT / "examples" / "phenotypes.txt").read_text(encoding="utf-8").splitlines(), *LONG_NAMES]

pytestmark = pytest.mark.filterwarnings("ignore:.* were cut:UserWarning")


@pytest.fixture(
    scope="module", params=["nymlink-mini", pytest.param("nymlink-xl-mini", marks=pytest.mark.large), "of a user"]
)
def folder(
    request: pytest.FixtureRequest,
    saved: Path,
    export_once: Callable[..., Any],
    tmp_path_factory: pytest.TempPathFactory,
) -> Path:
    """Both encoders of nymlink, and what the export makes of another."""
    if request.param != "of a user":
        return {"nymlink-mini": FOLDER, "nymlink-xl-mini": XL_FOLDER}[request.param]
    made = tmp_path_factory.mktemp("int8") / "bert"
    names = many_names(150)
    synonyms = vocabulary({f"T:{number}": [f"{name} seizure", name] for number, name in enumerate(names)})
    export_once(saved, made, precision="int8", vocabulary=synonyms)
    return made


def test_integer_products_are_exact(folder: Path) -> None:
    graph = onnx.load(folder / INT8)
    products = [node for node in graph.graph.node if node.op_type == PRODUCT]
    weights = constants_of(graph.graph, products)
    wanted = list(dict.fromkeys(name for node in products for name in (node.input[0], node.output[0])))
    graph.graph.output.extend(ValueInfoProto(name=name) for name in wanted)
    session = onnxruntime.InferenceSession(graph.SerializeToString(), providers=["CPUExecutionProvider"])
    tokenizer = load_tokenizer(folder, Encoder.load(folder).settings)
    assert products
    for name in LONG_NAMES:
        ids = np.array([tokenizer.encode(name).ids])
        found = dict(
            zip(wanted, session.run(wanted, {"input_ids": ids, "attention_mask": np.ones_like(ids)}), strict=True)
        )
        for node in products:
            left, right, _, scales, left_zero, right_zero = node.input
            exact = _signed(found[left], weights[left_zero]) @ _signed(weights[right], weights[right_zero])
            np.testing.assert_allclose(found[node.output[0]], exact * weights[scales], rtol=1e-6, err_msg=right)


def constants_of(graph: GraphProto, nodes: Sequence[NodeProto]) -> dict[str, npt.NDArray[Any]]:
    """Constant inputs of some nodes. Tables of names, of 4 bits, take seconds to unpack."""
    inputs = {name for node in nodes for name in node.input}
    return {each.name: numpy_helper.to_array(each) for each in graph.initializer if each.name in inputs}


def _signed(numbers: npt.NDArray[Any], zero: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    """Whole numbers as float64: sums of their products are exact, and BLAS adds them up."""
    return numbers.astype(np.float64) - zero.astype(np.float64)


def test_nothing_in_the_graph_depends_on_the_processor(folder: Path) -> None:
    graph = onnx.load(folder / INT8).graph
    products = [node for node in graph.node if node.op_type == PRODUCT]
    constants = constants_of(graph, products)
    # Processors without VNNI add two products of unsigned and signed bytes in 16 bits.
    for node in products:
        pairs = constants[node.input[1]].astype(np.int64)
        pairs = pairs.reshape(-1, 2, pairs.shape[1])
        for sign in (1, -1):
            assert 255 * np.maximum(sign * pairs, 0).sum(1).max() < 1 << 15
    # Where a softmax has more numbers than a register, the order of its sum depends on the register.
    assert "Softmax" not in {node.op_type for node in graph.node}


def test_vectors_depend_neither_on_the_batch_nor_on_the_order(folder: Path) -> None:
    encoder = Encoder.load(folder)
    together = encoder.encode(NAMES)
    alone = np.concatenate([encoder.encode([name]) for name in NAMES])
    backwards = Encoder.load(folder, batch_tokens=64).encode(NAMES[::-1])[::-1]
    np.testing.assert_allclose(alone, together, atol=1e-6)
    np.testing.assert_allclose(backwards, together, atol=1e-6)


def test_vectors_do_not_depend_on_the_number_of_threads(folder: Path, tmp_path: Path) -> None:
    script = (
        "import json, sys; from pathlib import Path; import numpy as np\n"
        "from nymlink.encode.encoder import Encoder\n"
        "np.save(sys.argv[2], Encoder.load(Path(sys.argv[1])).encode(json.loads(sys.argv[3])))"
    )
    file = tmp_path / "of_three.npy"
    command = [sys.executable, "-c", script, str(folder), str(file), json.dumps(NAMES)]
    subprocess.run(command, check=True, env=os.environ | {"OMP_NUM_THREADS": "3"}, timeout=120)
    # This process has one.
    assert os.environ["OMP_NUM_THREADS"] == "1"
    np.testing.assert_allclose(np.load(file), Encoder.load(folder).encode(NAMES), atol=1e-6)
