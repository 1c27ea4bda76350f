import { inject } from 'vitest'

/** The amount of work of the tests: `small` in `npm test` and `.ci/run`, `full` in `npm run test:full`. */
export type Sizes = 'small' | 'full'

/** Returns the value for the size of this run. */
export const size = <T>(small: T, full: T): T => (inject('sizes') === 'full' ? full : small)

/** Prints a figure, which `npm run test:full` collects into docs/measured.md. `unit` is e.g. `ms` or `requests/s`. */
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
