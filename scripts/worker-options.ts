// Prints, as JSON, the options that the local runtime needs for a Worker, from its configuration. worker-build.ts runs it as a
// process, because the library that reads configurations takes more memory than the service.
import { relative } from 'node:path'
import { unstable_getMiniflareWorkerOptions as optionsOf, unstable_readConfig as readConfig } from 'wrangler'

const config = process.argv[2]!
const { workerOptions } = optionsOf(config)
const { name, main, vars } = readConfig({ config })
// Secrets next to the configuration are not kept with the build.
const options = { ...workerOptions, name, bindings: vars, rootPath: undefined, modulesRules: undefined }
console.log(JSON.stringify({ main: relative('.', main!), options }))
