import { expect, test } from 'vitest'
import { DeployTestForm, RepairForm, StudioDeployForm } from '../../src/tenants/deployment/contract.ts'

const zipFile = new Uint8Array()

test('a studio deploy does not recreate the tenant by default, and reads TRUE as true', () => {
  expect(StudioDeployForm.parse({ tenantName: 'acme-motor', zipFile }).recreate).toBe(false)
  expect(StudioDeployForm.parse({ recreate: 'TRUE', tenantName: 'acme-motor', zipFile }).recreate).toBe(true)
})

test('a form without its file is rejected with the name of the missing part', () => {
  expect(DeployTestForm.safeParse({}).error!.issues.map(issue => issue.message)).toEqual([
    "'zipFile' is missing; send the file as the part named zipFile.",
  ])
})

test('a repair requires the number of a version', () => {
  expect(RepairForm.parse({ tenantName: 'acme', version: '2', zipFile }).version).toBe(2)
  expect(RepairForm.safeParse({ tenantName: 'acme', version: 'latest', zipFile }).success).toBe(false)
})
