// `npm run fuzz -- --runs N [--seed S]`: sends malformed requests (fuzzing), in other numbers than the tests.
import { spawnSync } from 'node:child_process'
import { parseArgs } from 'node:util'

const USAGE = 'npm run fuzz -- [--runs N] [--seed S]'

const { values } = parseArgs({
  options: { runs: { type: 'string', default: '20000' }, seed: { type: 'string' } },
})
const seed = values.seed ?? String(Math.floor(Math.random() * 2 ** 31))
if (!/^[1-9]\d{0,8}$/.test(values.runs) || !/^\d{1,10}$/.test(seed)) {
  console.error(`fuzz: usage: ${USAGE}`)
  process.exit(2)
}
console.log(`fuzz: ${values.runs} requests, seed ${seed}`)
const { status } = spawnSync(
  'vitest',
  ['run', '--project', 'service', 'test/properties/requests.service.test.ts'],
  { stdio: 'inherit', env: { ...process.env, BINDERY_FUZZ_RUNS: values.runs, BINDERY_FUZZ_SEED: seed } },
)
process.exit(status ?? 1)
