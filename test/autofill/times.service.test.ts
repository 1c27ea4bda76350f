// The times that fillers receive with every request, and return under the names of the interface.
import { beforeAll, describe, expect, it } from 'vitest'
import type { EndorsementResponse } from '../../src/transactions/endorsements/contract.ts'
import type { RenewalResponse } from '../../src/transactions/renewals/contract.ts'
import { callApi } from '../support/api.ts'
import { autofilled } from '../support/autofilled.ts'
import { prepareDatabases } from '../support/databases.ts'
import { type Motor, motorTenant, plainYear } from '../support/motor.ts'

/** Does what `contact_phone` says. */
const AUTOFILL = `
const DAY = 86400000
const parts = {
  earlier: ({ updates }) => ({ policyEndTimestamp: String(Number(updates.policyEndTimestamp) - DAY) }),
  later: ({ updates }) => ({ endorsementEffectiveTimestamp: Number(updates.endorsementEffectiveTimestamp) + DAY }),
  own: ({ updates }) => ({ policyEndTimestamp: 1, renewalEndTimestamp: Number(updates.policyEndTimestamp) - 2 * DAY }),
  echo: ({ updates }) => ({ ...updates }),
}
exports.getDataAutofill = data => {
  const { fieldValues, ...rest } = data.updates
  socotraApi.setAuxData('global', 'updates', JSON.stringify(rest))
  const part = parts[String(fieldValues.contact_phone)]
  return part ? part(data) : {}
}`

const { policy: plain } = plainYear().request
const START: number = plain.policyStartTimestamp
const END: number = plain.policyEndTimestamp
const DAY = 86_400_000

let motor: Motor
beforeAll(async () => {
  await prepareDatabases({ tenants: 1 })
  const files = autofilled(AUTOFILL)
  const path = 'products/private_motor/policy/policy.json'
  const text = String(files[path]).replace(
    '"name":"contact_phone","title":"Telephone","type":"phone"',
    '"name":"contact_phone","title":"Telephone","type":"string"',
  )
  expect(text).toContain('"title":"Telephone","type":"string"')
  motor = await motorTenant('autofill-times', { ...files, [path]: text })
})

const asking = (part: string) => ({ contact_phone: part })
const created = (part: string, changes: object = {}) =>
  motor.createPolicy({ fieldValues: { ...plain.fieldValues, ...asking(part) }, ...changes })
const given = async () =>
  JSON.parse((await motor.get<{ value: string }>('/auxData/global/updates')).body.value)
const patch = <T>(path: string, body: object) => callApi<T>('PATCH', path, { token: motor.token, body })
const issued = async (): Promise<string> => {
  const { locator } = (await created('none')).body
  expect((await motor.post(`/policy/${locator}/issue`)).status).toBe(200)
  return locator
}

describe('times in the input of fillers', () => {
  it('of a new policy are those that it will have, even if the request has none', async () => {
    const plainly = await created('none', { policyStartTimestamp: START, policyEndTimestamp: null })
    const { originalContractEndTimestamp: end } = plainly.body
    expect(await given()).toMatchObject({ policyStartTimestamp: String(START), policyEndTimestamp: end })
    const { body } = await created('earlier', { policyStartTimestamp: START, policyEndTimestamp: null })
    expect(body.originalContractEndTimestamp).toBe(String(Number(end) - DAY))
    const { locator } = (await created('none', { finalize: false })).body
    expect((await motor.post(`/policy/${locator}/update`, { fieldValues: asking('earlier') })).status).toBe(
      200,
    )
    expect(await given()).toMatchObject({
      policyStartTimestamp: String(START),
      policyEndTimestamp: String(END),
    })
    const updated = await motor.get(`/policy/${locator}`)
    expect(updated.body.originalContractEndTimestamp).toBe(String(END - DAY))
  })

  it('of an endorsement are its own and those of the policy', async () => {
    const locator = await issued()
    const { body, status } = await motor.post<EndorsementResponse>(`/policies/${locator}/endorsements`, {
      endorsementName: 'change_of_risk',
      startTimestamp: START + 10 * DAY,
      fieldValues: asking('later'),
    })
    expect(status).toBe(200)
    expect(body.startTimestamp).toBe(String(START + 11 * DAY))
    expect(await given()).toMatchObject({
      endorsementName: 'change_of_risk',
      endorsementEffectiveTimestamp: String(START + 10 * DAY),
      policyStartTimestamp: String(START),
      policyEndTimestamp: String(END),
    })
    const updated = await patch<EndorsementResponse>(`/endorsements/${body.locator}`, {
      endorsementUpdate: { fieldValues: asking('echo') },
    })
    expect(updated.body.startTimestamp).toBe(String(START + 11 * DAY))
    expect(await given()).toMatchObject({ endorsementEffectiveTimestamp: String(START + 11 * DAY) })
  })

  it('of a renewal are those of its term, and the answer may change its end', async () => {
    const locator = await issued()
    const renewal = async (part: string) =>
      await motor.post<RenewalResponse>(`/policies/${locator}/renewals`, {
        renewalEndTimestamp: END + 300 * DAY,
        fieldValues: asking(part),
      })
    const { body } = await renewal('earlier')
    expect(body.renewalEndTimestamp).toBe(String(END + 299 * DAY))
    expect(await given()).toMatchObject({
      policyStartTimestamp: String(END),
      policyEndTimestamp: String(END + 300 * DAY),
    })
    const updated = await patch<RenewalResponse>(`/renewals/${body.locator}`, {
      renewalUpdate: { fieldValues: asking('earlier') },
    })
    expect(updated.body.renewalEndTimestamp).toBe(String(END + 298 * DAY))
    expect((await renewal('own')).body.renewalEndTimestamp).toBe(String(END + 298 * DAY))
    expect((await renewal('echo')).body.renewalEndTimestamp).toBe(String(END + 300 * DAY))
  })
})
