// Runs the Worker and builds it again whenever a source changes: started by local-worker.ts.
import { resolve } from 'node:path'
import { unstable_startWorker } from 'wrangler'
import { givenWorker } from './local-worker.ts'

const worker = givenWorker()
await unstable_startWorker({
  config: worker.config,
  ...(worker.script !== undefined && { entrypoint: worker.script }),
  bindings: Object.fromEntries(
    Object.entries(worker.vars ?? {}).map(([name, value]) => [name, { type: 'plain_text', value }]),
  ),
  dev: {
    watch: true,
    remote: false,
    server: { hostname: '127.0.0.1', port: worker.port },
    // Wrangler's own debugger would be sent every line of the log, at a sixth of a short request; who looks asks for a port.
    inspector: worker.inspectorPort === undefined ? false : { port: worker.inspectorPort },
    persist: resolve(worker.dataFolder),
  },
})
