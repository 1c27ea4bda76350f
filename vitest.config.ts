import { availableParallelism, tmpdir, totalmem } from 'node:os'
import { join } from 'node:path'
import { cloudflareTest } from '@cloudflare/vitest-plugin'
import { defineConfig } from 'vitest/config'
import { writeRouteIndex } from './scripts/route-index.ts'
import { newTokenKeys } from './scripts/token-key.ts'
import { exampleFilesModule } from './test/support/example-files.ts'
import { LongestFirst } from './test/support/file-order.ts'
import { useMemoryFolder } from './test/support/memory-folder.ts'
import { SERVICE_ENTRY } from './test/support/service-bundle.ts'
import type { Sizes } from './test/support/sizes.ts'
import { TEST_TOKEN_SECRET } from './test/support/test-secrets.ts'

useMemoryFolder()
// Compiling its sources takes half of the time of a short script. The processes that tests start share the result.
process.env.NODE_COMPILE_CACHE ??= join(tmpdir(), 'bindery-compiled')
// Tests leave much short-lived garbage. With more room for it, the collector takes a tenth less of their processor time.
process.env.MINIFLARE_WORKERD_V8_FLAGS ??= '--min-semi-space-size=32'
await writeRouteIndex()

const numberOf = (name: string): number | undefined =>
  process.env[name] === undefined ? undefined : Number(process.env[name])

/** Tests wait for the runtime, so three workers keep two cores busy. */
const WORKERS = Math.max(3, availableParallelism() - 1)

/** Bytes of memory. Each concurrent process test may have a service and a browser. */
const ROOM_FOR_ONE_MORE = 8 * 2 ** 30

// Set by `.ci/run`. Domain tests are not retried, because no machine is so slow that they fail.
const retry = numberOf('BINDERY_RETRIES') ?? 0

function sizesOf(text = 'small'): Sizes {
  if (text === 'small' || text === 'full') return text
  throw new Error(`BINDERY_SIZES is '${text}': use small or full.`)
}

// Three kinds of tests. `domain`: pure functions, in Node, thousands of cases. `service`: through HTTP against the real runtime;
// each file begins with empty D1, R2, Durable Objects and queues. `process`: the service as a separate process, started, killed
// and restarted.
export default defineConfig({
  plugins: [exampleFilesModule()],
  test: {
    sequence: { sequencer: LongestFirst },
    // Awaited conditions can be late on a busy machine.
    expect: { poll: { timeout: 30_000 } },
    maxWorkers: WORKERS,
    // Read by test/support/sizes.ts.
    provide: {
      sizes: sizesOf(process.env.BINDERY_SIZES),
      // Set by `npm run docs:examples`, which listens at this address.
      exchangesUrl: process.env.BINDERY_EXCHANGES_URL,
      // Set by `npm run fuzz`. Undefined in `npm test`.
      fuzz: { runs: numberOf('BINDERY_FUZZ_RUNS'), seed: numberOf('BINDERY_FUZZ_SEED') },
      // Set by `npm run faults` in the same way.
      faults: { runs: numberOf('BINDERY_FAULTS_RUNS'), seed: numberOf('BINDERY_FAULTS_SEED') },
    },
    projects: [
      {
        extends: true,
        test: {
          name: 'domain',
          sequence: { groupOrder: 1 },
          include: ['{test,packages}/**/*.domain.test.ts'],
          environment: 'node',
          // Bundles are already built; load them without transforming them again.
          server: { deps: { external: [/\.bundle\.mjs$/] } },
          // Pure functions need no isolation, and their imports are then loaded once for all files.
          isolate: false,
          // Far more than the slowest test needs. One has taken 60 s while others kept the two cores busy, and that must not fail
          // it.
          testTimeout: 240_000,
          hookTimeout: 240_000,
        },
      },
      {
        extends: true,
        plugins: [
          cloudflareTest(({ inject }) => ({
            main: SERVICE_ENTRY,
            wrangler: { configPath: './wrangler.generated.toml' },
            miniflare: {
              // Replaces .dev.vars, so that tests run the same on every machine.
              bindings: {
                TOKEN_KEYS: newTokenKeys(),
                TOKEN_SECRET: TEST_TOKEN_SECRET,
                PLUGIN_RUNNER_ADDRESS: inject('pluginRunner').address,
                PLUGIN_RUNNER_START: inject('pluginRunner').start,
                // The limit of steps should end a call here, even on a busy machine.
                PLUGIN_CALL_MS: '60000',
                PASSWORD_PEPPER: 'a pepper that only tests use',
                SEALING_KEY: 'a sealing key that only tests use',
                // Request logs would add thousands of lines of output.
                REQUEST_LOG: 'off',
              },
              // For tests of limits. The local runtime does not reach the limits of the service.
              ratelimits: {
                THREE_AT_ONCE: { namespace_id: '9001', simple: { limit: 3, period: 60 } },
                FOUR_AT_ONCE: { namespace_id: '9002', simple: { limit: 4, period: 60 } },
              },
            },
          })),
        ],
        test: {
          name: 'service',
          retry,
          sequence: { groupOrder: 1 },
          globalSetup: [
            './test/support/service-bundle.ts',
            './test/support/receiver-server.ts',
            './test/support/oidc-server.ts',
            './test/support/rater-server.ts',
            './test/support/pdf-reader-server.ts',
            './test/support/browser-run-server.ts',
            './test/support/plugin-runner-server.ts',
          ],
          // Starting a runtime takes longer than most files, so three runtimes run all files (support/fresh-start).
          isolate: false,
          setupFiles: [
            './test/support/fresh-start/setup.ts',
            './test/support/emission/setup.ts',
            './test/support/journal/setup.ts',
            './test/support/exchanges/setup.ts',
            './test/support/query-plans/setup.ts',
          ],
          include: ['test/**/*.service.test.ts'],
          testTimeout: 120_000,
          hookTimeout: 120_000,
        },
      },
      {
        extends: true,
        test: {
          name: 'process',
          retry,
          // First and separately. Some of its files wait for minutes, so with enough memory one or two more files run at a time
          // than in other projects.
          sequence: { groupOrder: 0 },
          maxWorkers: WORKERS + Math.min(2, Math.floor(totalmem() / ROOM_FOR_ONE_MORE)),
          globalSetup: ['./test/support/first-start.ts'],
          // A few processes run all files. Each loads the imports of files once, and starts one browser.
          isolate: false,
          include: ['test/**/*.process.test.ts'],
          environment: 'node',
          // Services and browsers are started, which is far slower on a busy machine.
          testTimeout: 300_000,
          hookTimeout: 300_000,
        },
      },
    ],
  },
})
