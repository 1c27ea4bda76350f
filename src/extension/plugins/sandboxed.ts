// The parser of tenant code, and its isolate's code, built into one bundle (sandbox.bundle.mjs). The service loads it when it
// first checks a script or calls a plugin (scripts/bundles.ts).
export { workerCode } from './isolate-code.ts'
export { pluginProgram } from './program.ts'
export { compileScript } from './script.ts'
