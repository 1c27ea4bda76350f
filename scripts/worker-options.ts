// Prints what the local runtime is to give a Worker, by its configuration, as JSON: started by worker-build.ts, since the library that reads
// configurations takes up more memory than the service.
import { relative } from 'node:path'
import { unstable_getMiniflareWorkerOptions as optionsOf, unstable_readConfig as readConfig } from 'wrangler'

const config = process.argv[2]!
const { workerOptions } = optionsOf(config)
const { name, main, vars } = readConfig({ config })
// Secrets that lie beside the configuration are no part of what is kept.
const options = { ...workerOptions, name, bindings: vars, rootPath: undefined, modulesRules: undefined }
console.log(JSON.stringify({ main: relative('.', main!), options }))
