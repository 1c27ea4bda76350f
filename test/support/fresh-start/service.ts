// The service as tests run it, with a function that forgets what it has read of tenants. The next test file reuses their names.
import { forgetTenants as forget } from '../../../src/platform/tenancy.ts'

export * from '../../../src/worker.ts'
export { default } from '../../../src/worker.ts'

declare global {
  /** Undefined until the service is first called. */
  var forgetTenants: (() => void) | undefined
}

globalThis.forgetTenants = forget
