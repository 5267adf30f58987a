"""Where an object can keep a value while other tasks run; templates as in ``frames``."""

from __future__ import annotations

HEAP = {
    "object with slots": """
        v$n = Slotted()
        v$n.held = $x
        $pause
        $x = v$n.held + 1
    """,
    "object with an empty slot": """
        v$n = Slotted()
        if $x:
            v$n.held = 1
        else:
            v$n.other = 1
        $pause
        $x = 2 if hasattr(v$n, "held") else 1
    """,
    "object with a dict": """
        v$n = types.SimpleNamespace(held=$x)
        $pause
        $x = v$n.held + 1
    """,
    "dataclass": """
        v$n = Pair($x, $y)
        $pause
        $x = v$n.left + 1
    """,
    "subclass of int": """
        v$n = Number(1)
        v$n.held = $x
        $pause
        $x = v$n.held + 1
    """,
    "subclass of list": """
        v$n = Line([$x])
        v$n.held = $y
        $pause
        $x = v$n.held + v$n[0] + 1
    """,
    "subclass of dict": """
        v$n = collections.Counter({1: $x})
        v$n.held = $y
        $pause
        $x = v$n.held + v$n[1]
    """,
    "default argument": """
        def read$n(v=$x):
            return v + 1
        $pause
        $x = read$n()
    """,
    "default of a keyword": """
        read$n = lambda *, v=$x: v + 1
        $pause
        $x = read$n()
    """,
    "attribute of a function": """
        def read$n():
            return read$n.held + 1
        read$n.held = $x
        $pause
        $x = read$n()
    """,
    "attribute of a local class": """
        class Local$n:
            held = $x
        $pause
        $x = Local$n.held + 1
    """,
    "partial": """
        read$n = functools.partial(max, $x)
        $pause
        $x = read$n(1) + 1
    """,
    "bound method": """
        read$n = Pair($x, 0).total
        $pause
        $x = read$n() + 1
    """,
    "bound method of a builtin": """
        read$n = [$x].pop
        $pause
        $x = read$n() + 1
    """,
    "which function": """
        read$n = (lambda: 1) if $x else (lambda: 2)
        $pause
        $x = read$n()
    """,
    "which class": """
        v$n = (Pair if $x else Triple)(1, 1)
        $pause
        $x = v$n.total()
    """,
    "exception held": """
        try:
            raise Oops($x)
        except Oops as error:
            v$n = error
        $pause
        $x = v$n.args[0] + 1
    """,
    "cause of an exception": """
        v$n = Oops()
        v$n.__cause__ = Oops($x)
        $pause
        $x = v$n.__cause__.args[0] + 1
    """,
    "exception group": """
        v$n = ExceptionGroup("several", [Oops($x)])
        $pause
        $x = v$n.exceptions[0].args[0] + 1
    """,
    "context variable": """
        setting.set($x)
        $pause
        $x = setting.get() + 1
    """,
    "token of a context variable": """
        setting.set($x)
        v$n = setting.set(0)
        $pause
        setting.reset(v$n)
        $x = setting.get() + 1
    """,
    "copied context": """
        v$n = contextvars.copy_context()
        v$n.run(setting.set, $x)
        $pause
        $x = v$n.run(setting.get) + 1
    """,
    "cycle": """
        v$n = [$x]
        v$n.append(v$n)
        $pause
        $x = v$n[1][1][0] + 1
    """,
    "mapping proxy": """
        v$n = types.MappingProxyType({0: $x})
        $pause
        $x = v$n[0] + 1
    """,
    "key that is an object": """
        v$n, w$n = Slotted(), Slotted()
        table[v$n if $x else w$n] = 1
        $pause
        $x = 2 if table.pop(v$n, 0) else 1
        table.pop(w$n, 0)
    """,
    "weak reference": """
        v$n, w$n = Triple(0, 0), Triple(0, 0)
        r$n = weakref.ref(v$n if $x else w$n)
        $pause
        $x = 2 if r$n() is v$n else 1
    """,
}

_ITERATORS = {
    "tuple": "iter((5, 6, 7, 8))",
    "list": "iter([5, 6, 7, 8])",
    "range": "iter(range(5, 9))",
    "reversed list": "reversed([5, 6, 7, 8])",
    "dict": "iter({5: 0, 6: 0, 7: 0, 8: 0})",
    "dict items": "iter({5: 0, 6: 1, 7: 2, 8: 3}.items())",
    "set": "iter({5, 6, 7, 8})",
    "deque": "iter(collections.deque((5, 6, 7, 8)))",
    "str": "iter('5678')",
    "bytes": "iter(b'5678')",
    "enumerate": "enumerate('abcd')",
    "zip": "zip((5, 6, 7, 8), 'abcd')",
    "map": "map(abs, (5, 6, 7, 8))",
    "filter": "filter(None, (5, 6, 7, 8))",
    "sentinel": "iter([5, 6, 7, 8].pop, 0)",
    "chain": "itertools.chain((5, 6), (7, 8))",
    "count": "itertools.count(5)",
    "cycle": "itertools.cycle((5, 6, 7))",
    "islice": "itertools.islice((5, 6, 7, 8), 4)",
    "permutations": "itertools.permutations((5, 6, 7))",
}

ITERATORS = {
    f"iterator: {name}": f"""
        v$n = {iterator}
        list(itertools.islice(v$n, $x % 3))
        $pause
        log.append(next(v$n))
    """
    for name, iterator in _ITERATORS.items()
}

#: Equal, or alike in hash, length or text, and yet not the same to the program.
_LIKE = """
    0 0.0 -0.0 False 0j () '' b'' None 1 True 1.0 '1' b'1' bytearray(b'1') bytearray(b'2') (1,)
    [1] [True] {1} frozenset({1}) {1:1} {1:True} range(1) range(1,2) slice(1) slice(2) -1 -2
    1<<64 1<<65 float('nan') (0,0.0) (0,-0.0) decimal.Decimal('1') decimal.Decimal('1.0')
    fractions.Fraction(1) fractions.Fraction(2) datetime.date(1,1,1) datetime.date(1,1,2)
    array.array('b',[1]) array.array('b',[2]) int bool Ellipsis len abs Oops(1) Oops('1')
    re.compile('1') re.compile('2') collections.deque([1]) collections.deque([1],2)
    collections.deque([2]) operator.itemgetter(1) operator.itemgetter(2) 1+0j
"""

LIKENESSES = {
    f"likeness: {value}": f"""
        odd = {value}
        $pause
    """
    for value in _LIKE.split()
}

CONTAINERS = {
    "append to a deque": """
        line.append($k)
        $pause
    """,
    "rotate a deque": """
        line.rotate(1)
        $x = line.popleft() if line else 3
        $pause
    """,
    "insert in a dict": """
        table[$k] = 0
        $pause
    """,
    "move in a dict": """
        table.move_to_end($k) if $k in table else None
        $x = next(iter(table), 3)
        $pause
    """,
    "add to a set": """
        bag.add($x)
        $pause
        $x = len(bag)
    """,
    "take from a set": """
        $x = $k in bag
        bag.discard($k)
        $pause
    """,
    "heap": """
        heapq.heappush(heap, ($x, $k))
        $pause
        $x = heapq.heappop(heap)[0] + 1
    """,
    "log": """
        log.append($x)
        $pause
    """,
    "nested containers": """
        tree.setdefault($k, []).append({$x: (len(tree),)})
        $pause
    """,
}
