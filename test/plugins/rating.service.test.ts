// Rating and underwriting by plugins, through HTTP: the motor example with its plugins enabled.
import { beforeAll, describe, expect, it } from 'vitest'
import type { PolicyPriceResponse } from '../../src/policy/contract/billing.ts'
import { prepareDatabases } from '../support/databases.ts'
import { type Motor, motorTenant, workedOf } from '../support/motor.ts'
import { pluginRated } from '../support/plugin-rated.ts'

const amounts = (text: string): string => text.replace(/"locator":"[^"]*"/g, '""')

describe('the motor example rated by its plugins', () => {
  let liquid: Motor
  let plugin: Motor
  beforeAll(async () => {
    await prepareDatabases({ tenants: 2 })
    liquid = await motorTenant('plugins-liquid')
    plugin = await motorTenant('plugins-plugin', pluginRated())
  })

  for (const worked of workedOf('motor'))
    it(`${worked.name}: the plugin returns the price and decision of the templates, to the cent`, async () => {
      const priced = async (motor: Motor) => {
        const created = await motor.createPolicy({ ...worked.request.policy, finalize: false })
        expect(created.status).toBe(200)
        const { locator } = created.body
        const price = await motor.post<PolicyPriceResponse>(`/policy/${locator}/price`)
        const decided = await motor.get<{ decision: string; notes: string[] }>(
          `/policy/${locator}/automatedUnderwritingResult`,
        )
        return { price: price.body, decision: decided.body.decision, notes: decided.body.notes }
      }
      const [byTemplates, byPlugins] = [await priced(liquid), await priced(plugin)]
      expect(amounts(JSON.stringify(byPlugins.price))).toBe(amounts(JSON.stringify(byTemplates.price)))
      expect(byPlugins.decision).toBe(worked.expected.decision)
      expect(byPlugins.notes).toEqual(worked.expected.notes)
    })
})
