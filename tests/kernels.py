"Jupyter kernels for the tests: forks of a process that has imported PyTorch, so that a notebook begins at once"
import atexit, gc, os, sys
from multiprocessing import get_context
from multiprocessing.popen_forkserver import Popen
from jupyter_client import AsyncKernelManager
from pronto.core.processes import end_with

if any('multiprocessing.forkserver' in argument for argument in sys.orig_argv): # This is a fork server
    atexit.register(os._exit, 0) # To tidy up what it has imported would take seconds
    end_with(os.getppid(), status=0)

_IMPORTS = ('kernels __main__ torch transformers pandas matplotlib.pyplot '
            'matplotlib_inline.backend_inline ipykernel.zmqshell ipykernel.kernelapp '
            'pronto.modeling.train pronto.modeling.probing pronto.lab.reporting.notebook_views '
            'pronto.runs.runner pronto.runs.schema').split()

def _run_kernel(command:list[str], environment:dict, folder:str):
    "Become the kernel that a command describes"
    os.setsid()
    atexit.unregister(os._exit)
    torch = sys.modules.get('torch')
    if torch and torch.cuda._is_in_bad_fork():
        os.execve(command[0], command, environment)
    gc.freeze()
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    end_with(os.getppid()) # The fork server, which ends with the worker
    import pandas
    from ipykernel.kernelapp import launch_new_instance
    pandas.set_option('display.max_columns', 20) # The default in notebooks
    launch_new_instance(argv=[*command[command.index('-f'):], '--matplotlib=inline'])

class _Process(Popen):
    "A forked process, as Jupyter uses it"
    stdin = stdout = stderr = None
    def send_signal(self, number:int):
        self._send_signal(number)

class ForkedKernels(AsyncKernelManager):
    "Starts kernels as forks of a process that has imported what they need; for `kernel_manager_class`"
    async def _async_launch_kernel(self, kernel_cmd, *, env, **kwargs):
        server = get_context('forkserver')
        server.set_forkserver_preload(_IMPORTS) # Without effect when it is running
        started = kernel_cmd, env, kwargs.get('cwd') or os.getcwd()
        process = _Process(server.Process(target=_run_kernel, args=started, daemon=False))
        self.provisioner.process, self.provisioner.pid = process, process.pid
        self.provisioner.pgid = process.pid # It leads a group, so that its own processes end with it
        self._reconcile_connection_info(self.provisioner.connection_info)
