// The plugin runner's process: started by scripts/plugin-runner.ts, and over when that closes its standard input.
import { createInterface } from 'node:readline'
import { type RunnerStart, serve } from './server.ts'

const lines = createInterface({ input: process.stdin })
const first = await new Promise<string>(done => lines.once('line', done))
const runner = await serve(JSON.parse(first) as RunnerStart)
lines.on('close', async () => {
  await runner.close()
  process.exit()
})
process.stdout.write(`${JSON.stringify({ port: runner.port })}\n`)
