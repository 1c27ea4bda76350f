// Where the interpreter's WebAssembly is: in its package. In the package of the command line it lies beside the code (scripts/packages.ts).
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

const packageFile = createRequire(import.meta.url).resolve('@jitl/quickjs-wasmfile-release-sync/package.json')

export const INTERPRETER_FILE = join(dirname(packageFile), 'dist', 'emscripten-module.wasm')
