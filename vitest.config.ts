import { availableParallelism } from 'node:os'
import { cloudflareTest } from '@cloudflare/vitest-plugin'
import type { Plugin } from 'vite'
import { defineConfig } from 'vitest/config'

/**
 * What the service loads when it is first needed, loaded beforehand: in the tests' runtime a module cannot be
 * loaded from inside a Durable Object.
 */
const loadedBeforehand: Plugin = {
  name: 'loaded-beforehand',
  enforce: 'pre',
  transform(code, id) {
    if (!/\/(?:src|durable)\/.*\.ts$/.test(id)) return undefined
    const imports: string[] = []
    const text = code.replace(/(?<!typeof )\bimport\(('[^']+')\)/g, (_, path: string) => {
      imports.push(`import * as loaded${imports.length} from ${path};`)
      return `Promise.resolve(loaded${imports.length - 1})`
    })
    return imports.join(' ') + text
  },
}

// Three kinds of tests. `domain`: pure functions, on Node, thousands of cases. `service`: through HTTP against
// the real runtime with its own D1, R2, Durable Objects and queues for each file. `process`: the service as
// a process of its own, started, killed and started again.
export default defineConfig({
  test: {
    // Tests wait for the runtime, and those of the whole service for its start, so that three keep two cores busy.
    maxWorkers: Math.max(3, availableParallelism() - 1),
    // Read by test/support/sizes.ts.
    provide: { fullSizes: process.env.BINDERY_FULL === '1' },
    projects: [
      {
        extends: true,
        test: {
          name: 'domain',
          include: ['test/**/*.domain.test.ts'],
          environment: 'node',
          // Pure functions have nothing to keep apart; what they import is read once for all files.
          isolate: false,
          // Ten times what the slowest takes: two busy cores must not fail a test.
          testTimeout: 30_000,
        },
      },
      {
        extends: true,
        plugins: [
          loadedBeforehand,
          cloudflareTest({
            wrangler: { configPath: './wrangler.generated.toml' },
            miniflare: {
              // In place of .dev.vars, so that tests run the same on every machine.
              bindings: {
                TOKEN_SECRET: 'a token secret that only tests use',
                PASSWORD_PEPPER: 'a pepper that only tests use',
              },
            },
          }),
        ],
        test: {
          name: 'service',
          globalSetup: [
            './test/support/receiver-server.ts',
            './test/support/pdf-reader-server.ts',
            './test/support/browser-run-server.ts',
          ],
          include: ['test/**/*.service.test.ts'],
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
      {
        extends: true,
        test: {
          name: 'process',
          include: ['test/**/*.process.test.ts'],
          environment: 'node',
          testTimeout: 120_000,
          hookTimeout: 120_000,
        },
      },
    ],
  },
})
