"""How work is computed: threads, sessions of ONNX Runtime, work done ahead."""
