import { inject } from 'vitest'

/** A test's size: `small` in `npm test`, `full` in `npm run test:full`. */
export const size = <T>(small: T, full: T): T => (inject('fullSizes') ? full : small)

/** Notes a figure: `npm run test:full` collects them into docs/measured.md. `unit` as `ms`, `requests/s`. */
export function measured(name: string, value: number, unit: string): void {
  console.log(`measured: ${name} = ${value} ${unit}`)
}

declare module 'vitest' {
  interface ProvidedContext {
    fullSizes: boolean
    fuzz: { runs: number | undefined; seed: number | undefined }
    faults: { runs: number | undefined; seed: number | undefined }
  }
}
