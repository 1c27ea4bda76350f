// The service as tests run it: with a way to forget what it read of tenants, whose names the next test file uses again.
import { forgetTenants as forget } from '../../../src/platform/tenancy.ts'

export * from '../../../src/worker.ts'
export { default } from '../../../src/worker.ts'

declare global {
  /** Undefined until the service is first called. */
  var forgetTenants: (() => void) | undefined
}

globalThis.forgetTenants = forget
