// What reads tenant code, with its parser, and what runs it in an isolate: built into one file of its own, sandbox.bundle.mjs,
// which the service loads when it first checks a script or calls a plugin (scripts/bundles.ts).
export { workerCode } from './isolate-code.ts'
export { pluginProgram } from './program.ts'
export { compileScript } from './script.ts'
