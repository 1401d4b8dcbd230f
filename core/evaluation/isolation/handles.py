"""The program's side of objects that an evaluator holds handles of (`proxy.Handle`): source for the sandbox."""

from __future__ import annotations

HANDLES = '''
class __Handles:
    """Keeps the program's objects by number, for an evaluator that holds handles of them."""
    def __init__(self):
        self.objects, self.keys, self.classes = [], {}, {}
    def known(self, value):
        if isinstance(value, dict) and set(value) == {"__handle__"}:
            return self.objects[int(value["__handle__"])]
        return value
    def all_known(self, values):
        if isinstance(values, dict):
            return {name: self.known(value) for name, value in values.items()}
        return [self.known(value) for value in values]
    def told(self, value):
        """("value", data), or ("handle", class, key) for an object of a class that the evaluator knows."""
        if value is NotImplemented:
            return ("not implemented",)
        if type(value) not in self.classes:
            return "value", value
        key = self.keys.get(id(value))
        if key is None:
            self.objects.append(value)
            key = self.keys[id(value)] = str(len(self.objects) - 1)
        return "handle", self.classes[type(value)], key
    def new(self, name, args, named):
        made = globals()[name](*self.all_known(args), **self.all_known(named))
        if isinstance(globals()[name], type) and type(made).__module__ == globals()[name].__module__:
            self.classes.setdefault(type(made), type(made).__name__)
        return self.told(made)
    def special(self, kind, names):
        made = next(cls for cls, name in self.classes.items() if name == kind)
        own = [name for name in names if getattr(made, name, None) is not getattr(object, name, None)]
        return own + (["__iter__"] if "__iter__" not in own and "__getitem__" in own else [])
    def call(self, function, args, named):
        found = globals()[function.split(".")[0]]
        for name in function.split(".")[1:]:
            found = getattr(found, name)
        return found(*self.all_known(args), **self.all_known(named))
    def each(self, calls):
        told = []
        for function, args, named in calls:
            try:
                told.append([True, self.call(function, args, named)])
            except Exception as error:
                told.append([False, [type(error).__name__, str(error)[:1000]]])
        return told
    def use(self, key, name, args, named):
        return self.told(getattr(self.objects[int(key)], name)(*self.all_known(args), **self.all_known(named)))
    def iterate(self, key):
        self.objects.append(iter(self.objects[int(key)]))
        return str(len(self.objects) - 1)
    def step(self, key):
        for item in self.objects[int(key)]:
            return self.told(item)
        return None
    def look(self, key, name):
        value = getattr(self.objects[int(key)], name)
        return ("callable", None) if callable(value) else self.told(value)
    def main(self, text, words, given):
        """The program as a script, in a process of its own: what it prints, and its exit status."""
        import os, tempfile
        with tempfile.TemporaryFile() as told, tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            told.write(given)
            told.seek(0)
            pid = os.fork()
            if not pid:
                try:
                    for number, file in enumerate((told, out, err)):
                        os.dup2(file.fileno(), number)
                    self.end(self.status_of(text, words))
                finally:
                    os._exit(1)
            status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
            for file in (out, err):
                file.seek(0)
            return {"out": out.read(), "err": err.read(), "status": status if status >= 0 else 128 - status}
    def status_of(self, text, words):
        import sys, traceback, types
        sys.stdin, sys.stdout = open(0, closefd=False, encoding="utf-8"), open(1, "w", closefd=False, encoding="utf-8")
        sys.stderr = open(2, "w", 1, closefd=False, encoding="utf-8", errors="backslashreplace")
        script = sys.modules["__main__"] = types.ModuleType("__main__")
        script.__file__ = "candidate.py"
        sys.argv = ["candidate.py", *words]
        try:
            with open("candidate.py", "w", encoding="utf-8", errors="surrogateescape") as file:
                file.write(text)
            exec(compile(text, "candidate.py", "exec", dont_inherit=True), vars(script))
        except SystemExit as error:
            if error.code is None or isinstance(error.code, int):
                return int(error.code or 0)
            print(error.code, file=sys.stderr)
            return 1
        except BaseException as error:
            traceback.print_exception(type(error), error, error.__traceback__.tb_next)
            return 1
        return 0
    def end(self, status):
        """As an interpreter ends, but without tearing down what was loaded."""
        import atexit, os, sys, threading
        threading._shutdown()
        atexit._run_exitfuncs()
        for stream in (sys.stdout, sys.stderr):
            if stream is not None:
                stream.flush()
        os._exit(status & 255)
    def set(self, key, name, value):
        setattr(self.objects[int(key)], name, self.known(value))
__handles__ = __Handles()
'''
"""Prelude of a session behind a proxy: the program's side of handles and of several calls in one frame."""
