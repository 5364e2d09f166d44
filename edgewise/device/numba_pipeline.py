"""How Numba compiles the package's functions for the CPU: few passes, and machine code once for each kernel.

Parts.  Numba optimises every function, makes machine code of it, and links it into its callers, where it is
optimised and compiled again.  Device functions are called by compiled functions only, so each is a
:class:`_Part`, a text that is simplified only.  The function that Python calls, a :class:`_Whole`, is linked
with the texts of all parts below it, and is then optimised.  One that several workers run is a
:class:`_Worker`, which Python calls by the address of its entry (:mod:`~edgewise.device.numba_entries`).

Numba gives every function an environment that holds Python objects and fills it in after the machine code is
loaded.  A function without machine code has none, so a device function that prints values is refused.

Nobody links whole functions, so what is kept of one on disk is machine code, and the names that it defines.

Passes.  Kernels work on arrays, numbers and tuples, and allocate nothing.  What Numba does for others is left
out: array expressions, ``with`` blocks, ``literally`` and ``literal_unroll``, functions that are inlined
before their types are known, deleting variables, and the live variables after every pass.

The names are Numba's own, as on :mod:`~edgewise.device.numba_internals`; where one is missing, Numba compiles
these functions as any others.
"""

from contextlib import ExitStack, contextmanager
from operator import gt, lt
from types import BuiltinFunctionType, CodeType
from typing import Any

from llvmlite.binding import Linkage, create_pass_builder, create_pipeline_tuning_options, parse_assembly
from numba import types
from numba.core import config
from numba.core.compiler import CompilerBase
from numba.core.errors import UnsupportedError
from numba.core.ir import Assign, Const, Global
from numba.extending import intrinsic

from edgewise.device.first_use import private
from edgewise.device.numba_entries import ENTRY, add_entry
from edgewise.device.numba_lowering import RANGES, REPLACED

(_Context,) = private("numba.core.base", "BaseContext")
_Options, _Stack = private("numba.core.targetconfig", "TargetConfig", "ConfigStack")
(_Overload,) = private("numba.core.typing.templates", "_OverloadFunctionTemplate")
(_one_compiles,) = private("numba.core.compiler_lock", "global_compiler_lock")
(_llvm,) = private("llvmlite.binding.ffi", "lib")
_llvm_lock = getattr(_llvm, "_lock", None)
(_Library,) = private("numba.core.codegen", "JITCodeLibrary")
(_registry,) = private("numba.core.compiler_machinery", "_pass_registry")
(_rewrites,) = private("numba.core.rewrites", "rewrite_registry")
(_reconstruct_ssa,) = private("numba.core.ssa", "reconstruct_ssa")
(_definitions_of,) = private("numba.core.ir_utils", "build_definitions")
(_emit_extreme,) = private("numba.cpython.builtins", "do_minmax")
_prune, _rewrite_constants = private("numba.core.analysis", "dead_branch_prune", "rewrite_semantic_constants")
_UNTYPED = "TranslateByteCode", "InlineClosureLikes", "MakeFunctionToJitFunction", "RewriteDynamicRaises"
_translate, _inline_closures, _compile_closures, _rewrite_raises = private(
    "numba.core.untyped_passes", *_UNTYPED
)
_TYPED = "NopythonTypeInference", "PreLowerStripPhis", "NativeLowering", "NoPythonBackend"
_infer_types, _strip_phis, _lower, _finish = private("numba.core.typed_passes", *_TYPED)
_needed = [_one_compiles, _registry, _rewrites, _reconstruct_ssa, _definitions_of, _emit_extreme, _prune]
_needed += [_rewrite_constants, _translate, _inline_closures, _compile_closures, _rewrite_raises]
_needed += [_infer_types, _strip_phis, _lower, _finish]
_REPLACED = ["_finalize_dynamic_globals", "_finalize_final_module", "_finalized", "_optimize_final_module"]
_REPLACED += ["_optimize_functions", "add_ir_module", "codegen", "get_pointer_to_function"]
_REPLACED += ["_ensure_finalized", "_get_compiled_object", "get_defined_functions"]
_REPLACED += ["serialize_using_object_code"]
#: Whether all these names are there.
HAS_PARTS = None not in _needed and all(hasattr(_Library, name) for name in _REPLACED)
_numbas_implementation: Any = getattr(_Overload, "_get_impl", None)
HAS_PARTS &= _numbas_implementation is not None and hasattr(_Stack, "top_or_none")
HAS_PARTS &= hasattr(_Context, "get_abi_sizeof") and hasattr(_Options, "values")
HAS_PARTS &= hasattr(_llvm_lock, "_cblist")

#: Prefixes of Numba's names of environments, and of functions that Python calls.
_ENVIRONMENT, _WRAPPER = "_ZN08NumbaEnv", "_ZN7cpython"


# -- what a function is compiled to --------------------------------------------------------------------------


class _Proxy:
    """An object of Numba; subclasses replace what it does."""

    def __init__(self, original):
        self.original = original

    def __getattr__(self, name):
        return getattr(self.original, name)


class _Text(_Library if HAS_PARTS else object):  # type: ignore[misc]
    """A function and what it calls."""

    def _passes(self, level, is_vectorized=False):
        """LLVM's builder of passes."""
        options = create_pipeline_tuning_options(min(level, int(config.OPT)))
        options.loop_vectorization = is_vectorized and config.LOOP_VECTORIZE
        options.slp_vectorization = is_vectorized and config.SLP_VECTORIZE
        return create_pass_builder(self._codegen._tm, options)

    def _optimize_functions(self, module):
        """Simplify functions a little; those of a kernel are optimised together."""
        module.data_layout = self._codegen._data_layout
        for function in module.functions:
            if not function.is_declaration:
                builder = self._passes(1)
                builder.getFunctionPassManager().run(function, builder)


class _Part(_Text):
    """The text of a device function."""

    def add_ir_module(self, ir_module):
        """Accept the lowered function unless it needs an environment."""
        if _needs_environment(ir_module):
            raise UnsupportedError(
                f"{self.name}: device functions print fixed texts only, and use no other Python objects"
            )
        super().add_ir_module(ir_module)

    def _optimize_final_module(self):
        """The functions that link this one are optimised instead."""

    def _finalize_final_module(self):
        self._finalize_dynamic_globals()
        self._finalized = True

    def get_pointer_to_function(self, name):
        """There is no machine code; Numba makes a Python function of the result, which is never called."""
        if not name.startswith(_WRAPPER):
            raise NotImplementedError(f"{self.name} is part of other functions, and {name} has no address")
        return 0

    @property
    def codegen(self):
        """The code generator, which sets no environments here."""
        return _NoEnvironment(self._codegen)


class _CalledPart(_Part):
    """The text of a device function that is not copied into its callers."""

    def add_ir_module(self, ir_module):
        """Accept the lowered function."""
        for function in ir_module.functions:
            if not function.is_declaration:
                function.attributes.discard("alwaysinline")  # as all have that a copied function calls
                function.attributes.add("noinline")
        super().add_ir_module(ir_module)


class _Whole(_Text):
    """A function that Python calls, with all parts."""

    def _optimize_final_module(self):
        """Copy functions into others, and rotate loops, which the vectoriser needs; then optimise."""
        builder = self._passes(0)
        first = builder.getModulePassManager()
        if config.OPT:
            first.add_loop_rotate_pass()
            first.add_instruction_combine_pass()
            first.add_jump_threading_pass()
        first.run(self._final_module, builder)
        builder = self._passes(3, is_vectorized=True)
        builder.getModulePassManager().run(self._final_module, builder)

    def serialize_using_object_code(self):
        """Numba reads the names in a module beside the machine code; what they stand for is not needed."""
        self._ensure_finalized()
        lines = [f'define void @"{one.name}"() {{ ret void }}' for one in self.get_defined_functions()]
        lines += [
            f'@"{one.name}" = common global i64 0'
            for one in self._final_module.global_variables
            if one.name.startswith(_ENVIRONMENT) and not one.is_declaration
        ]
        names = parse_assembly("\n".join(lines)).as_bitcode()
        return self.name, "object", (self._get_compiled_object(), names)


class _Worker(_Whole):
    """A function that is called by the address of its entry, which it becomes a part of."""

    def _optimize_final_module(self):
        for function in self._final_module.functions:
            is_own = not function.is_declaration and function.linkage == Linkage.external
            if is_own and not function.name.endswith(ENTRY):
                function.linkage = "internal"
        super()._optimize_final_module()

    def get_pointer_to_function(self, name):
        """Python calls the entry alone."""
        self._ensure_finalized()
        return 0 if name.startswith(_WRAPPER) else super().get_pointer_to_function(name)


class _WorkerContext(_Proxy):
    """A context of Numba in which a function has an entry in place of what Python calls."""

    def get_executable(self, library, description, environment):
        """Add the entry, and make machine code."""
        module = self.create_module("entry")
        add_entry(self.original, module, description)
        library.add_ir_module(module)
        return self.original.get_executable(library, description, environment)


def _needs_environment(module):
    environments = [value for value in module.global_values if value.name.startswith(_ENVIRONMENT)]
    return any(
        operand is environment
        for function in module.functions
        for block in function.blocks
        for instruction in block.instructions
        for operand in instruction.operands
        for environment in environments
    )


class _NoEnvironment(_Proxy):
    def set_env(self, name, environment):
        """A part has no environment."""


# -- passes --------------------------------------------------------------------------------------------------


def _extreme(operator):
    """``min`` or ``max`` of two numbers, for which Numba compiles a function for each pair of types."""

    @intrinsic
    def extreme(typing, first, second):
        kind = typing.unify_types(first, second)

        def emit(context, builder, signature, values):
            return _emit_extreme(context, builder, signature.args, values, operator)

        return kind and (kind(first, second), emit)

    return extreme


_extremes = {min: _extreme(lt), max: _extreme(gt)}


def _calls(ir, *functions):
    """Calls of some functions of Python, each with the place where the function is read for it."""
    blocks = ir.blocks.values()
    found = {
        one.target.name: one.value
        for block in blocks
        for one in block.find_insts(Assign)
        if isinstance(one.value, Global) and any(one.value.value is function for function in functions)
    }
    for block in blocks if found else ():
        for one in block.find_insts(Assign):
            if getattr(one.value, "op", "") == "call" and one.value.func.name in found:
                yield one, found[one.value.func.name]


def _replace_extremes(ir):
    """Call the functions above where there are two arguments."""
    for call, function in _calls(ir, min, max):
        if len(call.value.args) == 2:
            function.value = _extremes[function.value]


def _replace_ranges(ir):
    """Let loops over ranges count up, where nothing else is done with a range."""
    looped = {one.value.name for block in ir.blocks.values() for one in block.find_exprs("getiter")}
    for call, function in _calls(ir, range):
        count, name = len(call.value.args), call.target.name
        if count in RANGES and name in looped and name.startswith("$"):
            function.value, function.name = RANGES[count], RANGES[count].__name__


def _read_constants(ir):
    """Put numbers in place of fields of global records, which Numba builds anew wherever one is read."""
    for block in ir.blocks.values():
        records = {
            one.target.name: one
            for one in block.find_insts(Assign)
            if isinstance(one.value, Global) and hasattr(one.value.value, "_fields")
        }
        for one in block.find_insts(Assign) if records else ():
            if getattr(one.value, "op", "") == "getattr" and one.value.value.name in records:
                record = records[one.value.value.name]
                number = getattr(record.value.value, one.value.attr)
                if isinstance(number, int) and record.target.name.startswith("$"):  # which is read once
                    one.value = Const(number, one.loc)
                    block.remove(record)


class _Passes:
    """The passes, in Numba's order, for a library of class ``kind``."""

    pipeline_name = "edgewise"

    def __init__(self, kind):
        self.kind, self.exec_times = kind, {}

    def run(self, state):
        """Compile the function of ``state``."""
        _run(_translate, state)
        state.nargs = state.func_ir.arg_count
        if any(isinstance(one, CodeType) for one in state.func_id.code.co_consts):
            _run(_inline_closures, state)
            _run(_compile_closures, state)
        _replace_extremes(state.func_ir)
        _replace_ranges(state.func_ir)
        _read_constants(state.func_ir)
        _rewrite_constants(state.func_ir, state.args)
        _prune(state.func_ir, state.args)
        _rewrites.apply("before-inference", state)
        _run(_rewrite_raises, state)
        _replace_ir(state, _reconstruct_ssa(state.func_ir))
        _prune(state.func_ir, state.args)
        _run(_infer_types, state)
        _replace_ir(state, _registry.get(_strip_phis).pass_inst._strip_phi_nodes(state.func_ir))
        state.library = self.kind(state.targetctx.codegen(), state.func_id.func_qualname)
        if issubclass(self.kind, _Whole):
            state.library.enable_object_caching()
        _run(_lower, state)
        _run(_finish, state)


def _run(kind, state):
    _registry.get(kind).pass_inst.run_pass(state)


def _replace_ir(state, ir):
    ir._definitions = _definitions_of(ir.blocks)
    state.func_ir = ir


_signatures: dict = {}


@contextmanager
def answers_kept(options=_Options):
    """Context in which Numba finds out once what it asks again and again, also where it compiles for GPUs.

    These are the types of an operator for each set of types, which it looks for at every use; the hash of a
    type, which is that of all types in a record; whether two sets of options are the same; and the size of a
    type, for which LLVM reads a text.  Nor are there events at each call of LLVM.

    No other thread compiles for the CPU meanwhile, so functions of users are compiled outside of it.

    Parameters
    ----------
    options : class
        The options of functions of the compiler in question, which numba-cuda has a copy of.
    """
    if not HAS_PARTS or options is None:
        yield
        return
    types_of_call, hash_of = types.Function.get_call_type, types.Type.__hash__
    size_of, hashes, sizes = _Context.get_abi_sizeof, {}, {}  # type: ignore[var-annotated]

    def get_call_type(self, context, args, kws):
        if kws or not isinstance(self.typing_key, BuiltinFunctionType):
            return types_of_call(self, context, args, kws)
        key = self, context, args
        if key not in _signatures:
            _signatures[key] = types_of_call(self, context, args, kws)
        return _signatures[key]

    def get_hash(self):
        known = hashes.get(id(self))
        if known is None:
            known = hashes[id(self)] = hash_of(self), self  # which keeps the type alive
        return known[0]

    def get_abi_sizeof(self, kind):
        text = str(kind)
        if text not in sizes:
            sizes[text] = size_of(self, kind)
        return sizes[text]

    with _one_compiles, ExitStack() as stack:
        stack.enter_context(_replaced(types.Function, "get_call_type", get_call_type))
        stack.enter_context(_replaced(types.Type, "__hash__", get_hash))
        stack.enter_context(_replaced(_Context, "get_abi_sizeof", get_abi_sizeof))
        stack.enter_context(_replaced(options, "__hash__", lambda self: 0))
        stack.enter_context(_replaced(options, "__eq__", _are_same_options))
        stack.enter_context(_replaced(_Overload, "_get_impl", _implementation))
        stack.enter_context(_replaced(_llvm_lock, "_cblist", []))
        for where, name, value in REPLACED:
            stack.enter_context(_replaced(where, name, value))
        yield


def _are_same_options(one, other):
    return one is other or one._values == other._values or one.values() == other.values()


def _implementation(self, args, kws):
    """The function that a call stands for, and its types.

    Numba compiles it again for callers of any other options, although only some of these are handed down.
    """
    of_caller = _Stack.top_or_none()
    if of_caller is None:  # nothing is compiled by this thread
        return _numbas_implementation(self, args, kws)
    is_copied = self._jit_options.get("forceinline") or of_caller.forceinline
    options = of_caller.nrt, frozenset(of_caller.fastmath.flags), of_caller.error_model, is_copied
    key = self.context, tuple(args), tuple(kws.items()), options
    return self._impl_cache.get(key) or self._build_impl(key, args, kws)


@contextmanager
def _replaced(where, name, value):
    own = getattr(where, name)
    setattr(where, name, value)
    try:
        yield
    finally:
        setattr(where, name, own)


class _UpToDate(_Proxy):
    """A context of Numba whose tables are complete, since a whole function is being compiled."""

    def refresh(self):
        """There is nothing new."""


class _PartCompiler(CompilerBase):
    """Compiler of device functions."""

    def __init__(self, typing_context, target_context, *options):
        super().__init__(_UpToDate(typing_context), _UpToDate(target_context), *options)
        self.state.typingctx = typing_context

    def define_pipelines(self):
        """Return the passes."""
        return [_Passes(_Part)]


class _CalledPartCompiler(_PartCompiler):
    """Compiler of device functions that are not copied into their callers."""

    def define_pipelines(self):
        """Return the passes."""
        return [_Passes(_CalledPart)]


class _WholeCompiler(CompilerBase):
    """Compiler of functions that Python calls."""

    def compile_extra(self, function):
        """Compile a function and all parts."""
        with answers_kept():
            return super().compile_extra(function)

    def define_pipelines(self):
        """Return the passes."""
        return [_Passes(_Whole)]


class _WorkerCompiler(_WholeCompiler):
    """Compiler of functions of several workers."""

    def define_pipelines(self):
        """Return the passes."""
        self.state.targetctx = _WorkerContext(self.state.targetctx)
        return [_Passes(_Worker)]


#: Options of device functions, and of functions that Python calls.
FOR_PARTS = {"pipeline_class": _PartCompiler} if HAS_PARTS else {}
FOR_CALLED_PARTS = {"pipeline_class": _CalledPartCompiler} if HAS_PARTS else {}
FOR_WHOLES = {"pipeline_class": _WholeCompiler} if HAS_PARTS else {}
FOR_WORKERS = {"pipeline_class": _WorkerCompiler, "no_cpython_wrapper": True} if HAS_PARTS else {}
