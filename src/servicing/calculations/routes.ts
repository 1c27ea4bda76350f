import { forTenant, type Route } from '../../platform/http/route.ts'
import * as contract from './contract.ts'

const { post } = forTenant('Calculations')
const answer = { schema: contract.CalculationResponse, description: 'The result of the formula.' }

// Loaded on first use, because start-up does not need the rating code.
const service = () => import('./service.ts')

export const calculationRoutes: readonly Route[] = [
  post('/calculation/checkPerilPremium', {
    summary: 'Try a premium formula on a peril that the request describes',
    description:
      'Prices it with this formula as new business: scaled to the period, with technical premium, commissions and the taxes of the product. Values are checked like those of a draft, so required values can be missing. A formula that cannot be parsed, fails or exceeds a limit is 422, with its line. Nothing is stored.',
    permission: 'calculations.check',
    body: { schema: contract.CheckPerilPremiumRequest, required: true },
    answer,
    handle: async ({ body }, context) => (await service()).checkPerilPremium(context, body),
  }),
  post('/calculation/checkExistingPerilPremium', {
    summary: 'Try a premium formula on an existing peril',
    description:
      'Uses the values of its policy, exposure and peril, and the configuration of the policy. 404 if the peril does not exist. A formula that cannot be parsed, fails or exceeds a limit is 422, with its line. Nothing is stored.',
    permission: 'calculations.check',
    body: { schema: contract.CheckExistingPerilPremiumRequest, required: true },
    answer,
    handle: async ({ body }, context) => (await service()).checkExistingPerilPremium(context, body),
  }),
]
