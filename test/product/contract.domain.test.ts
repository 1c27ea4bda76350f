import { expect, test } from 'vitest'
import { DeployTestForm, RepairForm, StudioDeployForm } from '../../src/tenants/deployment/contract.ts'

const zipFile = new Uint8Array()

test('a deploy without recreate keeps the data', () => {
  expect(StudioDeployForm.parse({ tenantName: 'acme-motor', zipFile }).recreate).toBe(false)
  expect(StudioDeployForm.parse({ recreate: 'TRUE', tenantName: 'acme-motor', zipFile }).recreate).toBe(true)
})

test('a form without its file says which part is missing', () => {
  expect(DeployTestForm.safeParse({}).error!.issues.map(issue => issue.message)).toEqual([
    "'zipFile' is missing; send the file as the part named zipFile.",
  ])
})

test('a repair names its version', () => {
  expect(RepairForm.parse({ tenantName: 'acme', version: '2', zipFile }).version).toBe(2)
  expect(RepairForm.safeParse({ tenantName: 'acme', version: 'latest', zipFile }).success).toBe(false)
})
