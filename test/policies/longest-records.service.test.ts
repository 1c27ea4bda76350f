// A record is a row, and D1 accepts rows up to 2 MB. The test runtime accepts any length.
import { beforeAll, expect, it } from 'vitest'
import { prepareDatabases } from '../support/databases.ts'
import { motorWithoutPapers } from '../support/examples.ts'
import { type Motor, motorTenant, plainYear } from '../support/motor.ts'

const POLICY = 'products/private_motor/policy/policy.json'
const VEHICLE = 'products/private_motor/policy/exposures/vehicle/exposure.json'

const remarks = { name: 'remarks', title: 'Remarks', type: 'string', optional: true, repeatable: true }

const textOf = (file: string | Uint8Array): string =>
  typeof file === 'string' ? file : new TextDecoder().decode(file)

function filesWithRemarks() {
  const files = motorWithoutPapers()
  const added = [POLICY, VEHICLE].map(name => {
    const file = JSON.parse(textOf(files[name]!))
    return [name, JSON.stringify({ ...file, fields: [...file.fields, remarks] })]
  })
  return { ...files, ...Object.fromEntries(added) }
}

/** Texts of 60,000 bytes each. */
const texts = (count: number): string[] => Array.from({ length: count }, () => '保'.repeat(20_000))

let motor: Motor

beforeAll(async () => {
  await prepareDatabases({ tenants: 1 })
  motor = await motorTenant('remarks', filesWithRemarks())
}, 60_000)

const withRemarks = (count: number) => ({
  fieldValues: {
    ...(plainYear().request.policy.fieldValues as Record<string, string>),
    remarks: texts(count),
  },
})

it('a policy with values too long to store is rejected with 413, and the message has the limit', async () => {
  expect((await motor.createPolicy(withRemarks(30))).status).toBe(200)
  const { status, body } = await motor.createPolicy(withRemarks(40))
  expect([status, (body as unknown as { code: string }).code]).toEqual([413, 'tooLarge'])
  expect((body as unknown as { message: string }).message).toMatch(
    /^A record needs 24\d{5} bytes of storage, but at most 2000000 bytes fit\./,
  )
})

it('an endorsement with changes too long to store is rejected with 413 and changes nothing', async () => {
  const { body: draft } = await motor.createPolicy()
  const { body: issued } = await motor.post(`/policy/${draft.locator}/issue`)
  const [vehicle] = plainYear().request.policy.exposures as { fieldValues: object }[]
  const endorse = (vehicles: number) =>
    motor.post<{ code?: string }>(`/policies/${issued.locator}/endorsements`, {
      endorsementName: 'change_of_risk',
      startTimestamp: Number(issued.originalContractStartTimestamp),
      state: 'application',
      addExposures: Array.from({ length: vehicles }, () => ({
        ...vehicle!,
        fieldValues: { ...vehicle!.fieldValues, remarks: texts(2) },
      })),
    })
  const refused = await endorse(20)
  expect([refused.status, refused.body.code]).toEqual([413, 'tooLarge'])
  expect((await motor.get(`/policies/${issued.locator}/endorsements`)).body).toEqual([])
  expect((await endorse(10)).status).toBe(200)
})
