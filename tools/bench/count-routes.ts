// A separate process: prints how many routes the Worker of a bundle has, according to its own OpenAPI document.
import { readFileSync } from 'node:fs'
import { compile, link } from './worker-bundle.ts'

const bundle = process.argv[2]!
const worker = compile(readFileSync(bundle, 'utf8'), bundle)
await link(worker, bundle)
await worker.evaluate()
const { default: handler } = worker.namespace as { default: Required<Pick<ExportedHandler, 'fetch'>> }
const request = new Request('https://bindery.test/openapi.json')
const context = { waitUntil: () => undefined, passThroughOnException: () => undefined }
// An environment without rate limits, because the platform's counters are missing here.
const env = { ENVIRONMENT: 'local' }
const answer = await handler.fetch(request as never, env, context as never)
const { paths } = (await answer.json()) as { paths: Record<string, object> }
process.stdout.write(String(Object.values(paths).flatMap(Object.keys).length))
process.exit(0)
