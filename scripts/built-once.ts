// What `wrangler dev` does, but for looking out for changes: started by wrangler-dev.ts, with a DevelopmentWorker as JSON.
import { resolve } from 'node:path'
import { unstable_startWorker } from 'wrangler'
import type { DevelopmentWorker } from './wrangler-dev.ts'

const {
  config,
  script,
  port,
  inspectorPort = 0,
  dataFolder,
} = JSON.parse(process.argv[2]!) as DevelopmentWorker

await unstable_startWorker({
  config,
  ...(script !== undefined && { entrypoint: script }),
  dev: {
    watch: false,
    remote: false,
    server: { hostname: '127.0.0.1', port },
    inspector: { port: inspectorPort },
    persist: resolve(dataFolder),
  },
})
