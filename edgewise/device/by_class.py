"""``@by_class``: a function of kernels whose implementation the class of its first argument selects.

    @by_class
    def area(shape):
        \"\"\"Area of a shape.\"\"\"

    @area.of(Square)
    def area_of_square(shape):
        return shape.side * shape.side

The first argument is a record.  Where its class has no implementation, that of the nearest base class is
called.  The compilers select the implementation while they compile, so a call costs nothing, and an
implementation may be added from any file, as with :func:`functools.singledispatch`; ``area.dispatch(Square)``
returns the one that is called.  With ``partial(by_class, inlined=True)`` as decorator, implementations are
copied into their callers on the CPU, as by :func:`~edgewise.device.target.inlined`.
"""

from functools import cache, wraps

from edgewise.device.target import device, overload_on_cpu, overload_on_cuda

#: As :func:`~edgewise.device.target.device`, once for each function.
registered = cache(device)


def by_class(function, inlined=False):
    """Make ``function(record, *arguments)`` call the implementation for the class of its record."""
    implementations = {}

    @wraps(function)
    def call(record, *arguments):
        return dispatch(type(record))(record, *arguments)

    def of(kind):
        def register(implementation):
            implementations[kind] = registered(implementation)
            return implementation

        return register

    def dispatch(kind):
        for base in kind.__mro__:
            if base in implementations:
                return implementations[base]
        raise TypeError(f"{function.__name__} has no implementation for {kind.__qualname__}")

    def choose(record, *arguments):
        return dispatch(record.instance_class)

    vars(call).update(of=of, dispatch=dispatch)
    overload_on_cpu(call, forceinline=inlined, strict=False)(choose)
    overload_on_cuda(call, strict=False)(choose)
    return call
