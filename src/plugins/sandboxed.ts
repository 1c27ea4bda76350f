// What reads and runs tenant code, with its parser and its interpreter: built into one file of its own,
// sandbox.bundle.mjs, which the service loads when it first checks a script or calls a plugin (scripts/bundles.ts).
export { workerCode } from './isolate-code.ts'
export { pluginProgram } from './program.ts'
export { quickjsRunner } from './quickjs.ts'
export { compileScript } from './script.ts'
