"""How device functions are compiled for the CPU: as parts of those that call them, with no code of their own.

Numba optimises every function that it compiles, makes machine code of it, and links it into its callers,
where it is optimised and made into machine code again.  So a function that is ten calls deep is optimised ten
times.  But device functions are called by compiled functions alone.  Their text is handed on as it was
lowered, and the function that Python calls is optimised once, with all its parts inside: a search by levels,
of 74 functions, compiles in 6 s instead of 11 s.

Numba gives every function an environment, where compiled code finds Python's objects, and fills it in where
the function's machine code lies.  A part has none, so a part that prints values is refused.

This uses private names of Numba.  Where they are not there, device functions are compiled as any others.
"""

from numba.core import codegen
from numba.core.compiler import Compiler, CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import AnalysisPass, register_pass
from numba.core.errors import UnsupportedError
from numba.core.untyped_passes import IRProcessing

_Library = getattr(codegen, "JITCodeLibrary", object)
#: What of Numba's is taken the place of here, or called.
_NEEDED = (
    "_finalize_dynamic_globals",
    "_finalize_final_module",
    "_finalized",
    "_optimize_final_module",
    "add_ir_module",
    "codegen",
    "get_pointer_to_function",
)
#: How Numba's names begin: of environments, and of functions that Python calls.
_ENVIRONMENT, _WRAPPER = "_ZN08NumbaEnv", "_ZN7cpython"


class _Part(_Library):
    """What a function was lowered to, for those that link it."""

    def add_ir_module(self, ir_module):
        """Take what was lowered, if it can do without an environment."""
        if _needs_environment(ir_module):
            raise UnsupportedError(
                f"{self.name}: device functions print fixed texts alone, and use no other objects of Python's"
            )
        super().add_ir_module(ir_module)

    def _optimize_final_module(self):
        """Those who link it are optimised, with it inside."""

    def _finalize_final_module(self):
        self._finalize_dynamic_globals()
        self._finalized = True

    def get_pointer_to_function(self, name):
        """No machine code, so no address; Numba asks for it to make a function for Python, never called."""
        if not name.startswith(_WRAPPER):
            raise NotImplementedError(f"{self.name} is part of other functions, and {name} has no address")
        return 0

    @property
    def codegen(self):
        """The code generator, but that a function which is not there needs no environment."""
        return _NoEnvironment(self._codegen)


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


class _NoEnvironment:
    def __init__(self, codegen):
        self.codegen = codegen

    def __getattr__(self, name):
        return getattr(self.codegen, name)

    def set_env(self, name, environment):
        """Nowhere to put it, and nobody looks for it."""


@register_pass(mutates_CFG=False, analysis_only=True)
class _MakePart(AnalysisPass):
    _name = "make_part"

    def __init__(self):
        AnalysisPass.__init__(self)

    def run_pass(self, state):
        state.library = _Part(state.targetctx.codegen(), state.func_id.func_qualname)
        return False


class _PartCompiler(CompilerBase):
    """Numba's compiler, but that it makes a part."""

    def define_pipelines(self):
        """The passes, among them one that says where the lowered function goes."""
        passes = DefaultPassBuilder.define_nopython_pipeline(self.state)
        passes.add_pass_after(_MakePart, IRProcessing)
        passes.finalize()
        return [passes]


#: The compiler of device functions for the CPU.
PartCompiler = _PartCompiler if all(hasattr(_Library, name) for name in _NEEDED) else Compiler
