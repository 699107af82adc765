"""The sub-commands of ./x: what each is called, its line in the help, and what it runs."""

import argparse
import os
import secrets
import shutil
import signal
import subprocess
import sys

import base
import clients
import machine
import step
import waveform


def call(argv, env=None):
    """Runs a command in the foreground; its exit code becomes ours."""
    sys.stdout.flush()
    return subprocess.run(list(map(str, argv)), cwd=base.ROOT, env={**os.environ, **(env or {})}, check=False).returncode


def parser_for(name, text):
    """An argument parser that fails the way every sub-command does."""
    return argparse.ArgumentParser(prog=f"./x {name}", description=text)


def no_arguments(name, args):
    """For sub-commands without arguments: refuses any, answers --help."""
    parser_for(name, COMMANDS[name][0]).parse_args(args)


def cmd_setup(args):
    no_arguments("setup", args)
    machine.ensure(yosys=True, floor=True)
    print(f"ready: tools are in {machine.VENV}")
    return 0


def cmd_demo(args):
    machine.ensure()
    forebay = ["cargo", "build", "--release", "-p", "forebay-tools", "--features", "sim", "--bin", "forebay"]
    step.must("build forebay with the simulated core", forebay)
    if {"-h", "--help", "--daemon"} & {arg.split("=")[0] for arg in args}:
        return call(forebay_argv("demo", *args))
    with clients.demo_daemon() as url:
        return call(forebay_argv("demo", "--daemon", url, "--key", clients.KEY, *args))


def forebay_argv(*args):
    """The forebay command line with the simulation in it."""
    return ["cargo", "run", "--release", "-q", "-p", "forebay-tools", "--features", "sim", "--bin", "forebay", "--", *args]


def cmd_test(args):
    parser = parser_for("test", COMMANDS["test"][0])
    parser.add_argument("--all", action="store_true", help="what CI runs: also the heavy parts; an unforeseen skip fails")
    options = parser.parse_args(args)
    import suite

    machine.ensure(yosys=True, floor=True)
    return suite.main(everything=options.all)


def cmd_rtl(args):
    no_arguments("rtl", args)
    import rtl

    machine.ensure()
    for block in rtl.emit():
        print(f"  {block.name}: {base.shown(block.path)}")
    return 0


def cmd_lint(args):
    no_arguments("lint", args)
    import rtl

    machine.ensure(floor=True)
    return rtl.lint()


def cmd_synth(args):
    parser = parser_for("synth", COMMANDS["synth"][0])
    choice = parser.add_mutually_exclusive_group()
    choice.add_argument("--check", action="store_true", help="only compare the table's hashes with the emitted Verilog")
    choice.add_argument("--compare", action="store_true", help="synthesise and compare with the table; write nothing")
    choice.add_argument("--write", action="store_true", help="synthesise and write the table (the default)")
    options = parser.parse_args(args)
    import synth

    machine.ensure(yosys=not options.check)
    if options.check:
        return synth.check()
    return synth.compare() if options.compare else synth.write()


def cmd_mutate(args):
    parser = parser_for("mutate", COMMANDS["mutate"][0])
    parser.add_argument("--compare", action="store_true", help="compare with the committed page; write nothing")
    options = parser.parse_args(args)
    import mutate

    machine.ensure(yosys=True)
    return mutate.main(compare=options.compare)


def cmd_prove(args):
    parser = parser_for("prove", COMMANDS["prove"][0])
    parser.add_argument("--compare", action="store_true", help="compare with the committed page; write nothing")
    options = parser.parse_args(args)
    import prove

    machine.ensure(yosys=True, provers=True)
    return prove.main(compare=options.compare)


def cmd_bench(args):
    if args[:1] == ["study"]:
        return bench_study(args[1:])
    if args[:1] == ["peers"]:
        import peers

        return peers.main(args[1:])
    machine.ensure()
    return call(["cargo", "run", "--release", "-p", "forebay-testbench", "--bin", "bench", "--", *args])


def bench_study(rest):
    """All policies on the traces of FOREBAY_DATA; further options are those of `forebay study`."""
    data = os.environ.get("FOREBAY_DATA")
    simulated = "--device=sim" in rest or ("--device", "sim") in zip(rest, rest[1:])
    if "--traces" not in rest and "--help" not in rest:
        if not data:
            raise base.Failure("FOREBAY_DATA is not set; name the folder of third-party data, or give --traces DIR")
        # two pools are more nodes than the simulated scheduler has, and all scenes on it take long
        scenes = [] if simulated else ["--scene", "clients,pools,outages"]
        rest = ["--traces", os.path.join(data, "traces"), *scenes, *rest]
    if simulated:
        machine.ensure()
        return call(forebay_argv("study", *rest))
    return call(["cargo", "run", "--release", "-q", "-p", "forebay-tools", "--bin", "forebay", "--", "study", *rest])


def cmd_clients(args):
    parser = parser_for("clients", COMMANDS["clients"][0])
    parser.add_argument("--engines", action="store_true", help="with a real llama.cpp behind the daemon instead of its echo engine")
    options = parser.parse_args(args)
    machine.ensure()
    return clients.llama() if options.engines else clients.echo()


def cmd_deb(args):
    no_arguments("deb", args)
    import deb

    return deb.main()


def cmd_fuzz(args):
    parser = parser_for("fuzz", COMMANDS["fuzz"][0])
    parser.add_argument("target", nargs="?", help="one target; all of them if left out")
    parser.add_argument("--seconds", type=int, default=60, help="time for each target (default 60)")
    parser.add_argument("--seed", type=int, help="the same new inputs each time; drawn if left out")
    options = parser.parse_args(args)
    machine.ensure()
    seed = secrets.randbits(64) if options.seed is None else options.seed
    # the targets read the names of ours: testbench/tests/fuzz/target.rs. A seed of the environment goes before that of .cargo/config.toml
    env = {"FOREBAY_FUZZ_SECONDS": str(options.seconds), "BOLERO_RANDOM_SEED": str(seed)}
    if options.target:
        env["FOREBAY_FUZZ_TARGET"] = options.target
    return call(["cargo", "test", "--release", "-p", "forebay-testbench", "--test", "fuzz", "--", "--nocapture"], env)


def cmd_wave(args):
    parser = parser_for("wave", COMMANDS["wave"][0] + "; further options are those of `forebay replay`")
    parser.add_argument("--view", choices=sorted(waveform.VIEWS), default="core", help="what build/wave.svg shows (default core)")
    parser.add_argument("--pages", action="store_true", help="renew the pictures on the pages of the blocks")
    options, rest = parser.parse_known_args(args)
    machine.ensure()
    if not any(os.path.isfile(arg) for arg in rest):
        corpus = sorted((base.ROOT / "testbench" / "corpus" / "captures").glob("*.pcap*"))
        if not corpus:
            raise base.Failure("no capture in testbench/corpus/captures; name one: ./x wave FILE")
        rest = [str(corpus[0]), *rest]
    base.BUILD.mkdir(exist_ok=True)
    vcd = base.BUILD / "wave.vcd"
    code = call(forebay_argv("replay", "--device", "sim", "--vcd", vcd, *rest))
    if code:
        return code
    pages = {view: base.ROOT / "hdl" / "src" / view / "wave.svg" for view in waveform.VIEWS}
    pictures = pages if options.pages else {options.view: base.BUILD / "wave.svg"}
    for view, path in pictures.items():
        path.write_text(waveform.picture(vcd, view), encoding="utf-8")
    shown = ", ".join(base.shown(path) for path in pictures.values())
    print(f"the waveform is in {base.shown(vcd)}, a picture of it in {shown}")
    return 0


def cmd_slow(args):
    env = {"FOREBAY_SLOW": "1"}
    cargo = ["cargo", "test", "--release", "--no-fail-fast", "-p", "forebay-testbench", "-p", "forebay-daemon", *args]
    if args:
        machine.ensure()
        return call([*cargo, "--", "--nocapture"], env)
    import mutate
    import prove

    machine.ensure(yosys=True, provers=True)
    codes = [call([*cargo, "--", "--nocapture"], env), mutate.main(compare=True), prove.main(compare=True)]
    return max(codes)


def cmd_tidy(args):
    no_arguments("tidy", args)
    import tidy

    return tidy.main(base.ROOT)


def cmd_licences(args):
    no_arguments("licences", args)
    import licences

    return licences.main()


def cmd_clean(args):
    parser = parser_for("clean", COMMANDS["clean"][0])
    parser.add_argument("--cache", action="store_true", help="also the cached models and synthesis results (not the tools)")
    options = parser.parse_args(args)
    folders = [base.ROOT / "target", base.BUILD]
    if options.cache:
        folders += [base.CACHE / "models", base.CACHE / "synth", base.CACHE / "mutants", base.CACHE / "prove"]
    for folder in folders:
        if folder.exists():
            shutil.rmtree(folder)
            print(f"removed {base.shown(folder)}")
    return 0


def cmd_help(_args):
    print("Usage: ./x COMMAND [ARGUMENTS]      (./x COMMAND --help says more)\n")
    for name, (text, _) in COMMANDS.items():
        print(f"  {name:<9} {text}")
    print(f"\nTools and cached work are kept in FOREBAY_CACHE (now {base.CACHE}).")
    print("FOREBAY_DATA names the folder of third-party test data; tests that need it are skipped without it.")
    return 0


COMMANDS = {
    "setup": ("install what is missing: system packages, pinned tools, a warm Yosys", cmd_setup),
    "demo": ("replay the project's own captures through RTL and twin, write target/report/index.html", cmd_demo),
    "test": ("all tests with each part's time; --all is what CI runs", cmd_test),
    "rtl": ("emit the Verilog of every block and top to build/rtl", cmd_rtl),
    "lint": ("emit the Verilog and lint it with the pinned Verilator and the oldest one", cmd_lint),
    "synth": ("LUT, FF, BRAM and logic depth of each block; writes hdl/synthesis.md (--check: is it stale?)", cmd_synth),
    "mutate": ("put faults into the burst scheduler, see which of them its tests find; writes hdl/mutation.md", cmd_mutate),
    "prove": ("prove properties of the burst scheduler with sby; writes hdl/proofs.md", cmd_prove),
    "bench": ("measure speed: simulation, twin, reference; `bench study`: scheduling policies; `bench peers`: gateways", cmd_bench),
    "clients": ("official clients against the daemon and its echo engine; --engines: and a real llama.cpp", cmd_clients),
    "deb": ("the Debian package of forebayd, and what is in it", cmd_deb),
    "fuzz": ("fuzz one target or all, --seconds for each", cmd_fuzz),
    "wave": ("replay a capture through the RTL and write build/wave.vcd", cmd_wave),
    "slow": ("the long tests: many seeds, full traces, mutate, prove; with arguments of cargo its tests alone", cmd_slow),
    "tidy": ("our style rules, as file:line: what: how to fix it", cmd_tidy),
    "licences": ("licences and sources of all Rust dependencies against deny.toml", cmd_licences),
    "clean": ("remove target/ and build/; --cache also the cached models and synthesis", cmd_clean),
    "help": ("this list", cmd_help),
}


def main(argv):
    """Runs one sub-command and returns its exit code."""
    name, args = (argv[0], argv[1:]) if argv else ("help", [])
    name = "help" if name in ("-h", "--help") else name
    if name not in COMMANDS:
        print(f"forebay: no command `{name}`; ./x help lists them", file=sys.stderr)
        return 2
    # ended by an outer ./x or by CI: leave by an exception, so that what a step started is ended too
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        return COMMANDS[name][1](args)
    except base.Failure as failure:
        print(f"forebay: {failure}", file=sys.stderr)
        return failure.code
    except KeyboardInterrupt:
        print("\nforebay: interrupted", file=sys.stderr)
        return 130
