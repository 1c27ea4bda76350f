import { inject } from 'vitest'

/** How much tests do: `quick` in `npm test`, `usual` in `.ci/run`, `full` in `npm run test:full`. */
export type Sizes = 'quick' | 'usual' | 'full'

/** A test's size: `small` in `npm test` and `.ci/run`, `full` in `npm run test:full`. */
export const size = <T>(small: T, full: T): T => (inject('sizes') === 'full' ? full : small)

/** What takes long and is still worth doing in `npm test`, in which it is `less`. */
export const quickly = <T>(less: T, usual: T): T => (inject('sizes') === 'quick' ? less : usual)

/** Runs of a property: `npm test` makes a third of the `usual` ones. */
export const runsOf = (usual: number, full: number): number =>
  size(quickly(Math.ceil(usual / 3), usual), full)

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
