// Runs the Worker and builds it anew whenever a source changes: started by local-worker.ts, with a LocalWorker as JSON.
import { resolve } from 'node:path'
import { unstable_startWorker } from 'wrangler'
import type { LocalWorker } from './local-worker.ts'

const {
  config,
  script,
  port,
  inspectorPort,
  dataFolder,
  vars = {},
} = JSON.parse(process.argv[2]!) as LocalWorker

await unstable_startWorker({
  config,
  ...(script !== undefined && { entrypoint: script }),
  bindings: Object.fromEntries(
    Object.entries(vars).map(([name, value]) => [name, { type: 'plain_text', value }]),
  ),
  dev: {
    watch: true,
    remote: false,
    server: { hostname: '127.0.0.1', port },
    // Wrangler's own debugger would be sent every line of the log, at a sixth of a short request; who looks asks for a port.
    inspector: inspectorPort === undefined ? false : { port: inspectorPort },
    persist: resolve(dataFolder),
  },
})
