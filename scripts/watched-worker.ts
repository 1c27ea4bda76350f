// Runs the Worker, and builds it again whenever a source changes. local-worker.ts starts it.
import { readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { unstable_startWorker } from 'wrangler'
import { LIBRARY_FOLDER, readWorkerArgument } from './local-worker.ts'
import { replaceFile } from './replace-file.ts'

const worker = readWorkerArgument()
// In the folder of the configuration, so that its relative paths stay valid and secrets are found.
const config = join(dirname(worker.config), 'wrangler.watched.generated.toml')
replaceFile(
  config,
  `${readFileSync(worker.config, 'utf8')}
[assets]
directory = "${resolve(LIBRARY_FOLDER)}"
binding = "ASSETS"
run_worker_first = true
html_handling = "none"
`,
)
await unstable_startWorker({
  config,
  ...(worker.script !== undefined && { entrypoint: worker.script }),
  bindings: Object.fromEntries(
    Object.entries(worker.vars ?? {}).map(([name, value]) => [name, { type: 'plain_text', value }]),
  ),
  dev: {
    watch: true,
    remote: false,
    server: { hostname: '127.0.0.1', port: worker.port },
    // Wrangler's own debugger would receive every line of the log, which takes a sixth of the time of a short request. It needs
    // an explicit port.
    inspector: worker.inspectorPort === undefined ? false : { port: worker.inspectorPort },
    persist: resolve(worker.dataFolder),
  },
})
