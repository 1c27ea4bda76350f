import { inject } from 'vitest'

/** How much tests do: `small` in `npm test` and `.ci/run`, `full` in `npm run test:full`. */
export type Sizes = 'small' | 'full'

/** What a test does in each of the sizes. */
export const size = <T>(small: T, full: T): T => (inject('sizes') === 'full' ? full : small)

/** Notes a figure: `npm run test:full` collects them into docs/measured.md. `unit` as `ms`, `requests/s`. */
export function measured(name: string, value: number, unit: string): void {
  console.log(`measured: ${name} = ${value} ${unit}`)
}

declare module 'vitest' {
  interface ProvidedContext {
    sizes: Sizes
    fuzz: { runs: number | undefined; seed: number | undefined }
    faults: { runs: number | undefined; seed: number | undefined }
  }
}
