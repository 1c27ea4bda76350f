// Types of the built file; the file itself is made by `npm run config`.
export { compileScript, parseScript, pluginProgram, workerCode } from '../extension/plugins/program.ts'
