import { forTenant, type Route } from '../../platform/http/route.ts'
import * as contract from './contract.ts'

const { post } = forTenant('Calculations')
const answer = { schema: contract.CalculationResponse, description: 'What the formula comes to.' }

// Loaded on first use, because start-up does not need the rating code.
const service = () => import('./service.ts')

export const calculationRoutes: readonly Route[] = [
  post('/calculation/checkPerilPremium', {
    summary: 'Try a premium formula on a peril that the request describes',
    description:
      'As it would be priced with this formula as new business: scaled to the span, with technical premium, commissions and the taxes of the product. Values are checked as those of a draft: what is missing may be. A formula that cannot be read, fails or passes a limit is 422, with its line. Nothing is stored.',
    permission: 'calculations.check',
    body: { schema: contract.CheckPerilPremiumRequest, required: true },
    answer,
    handle: async ({ body }, context) => (await service()).checkPerilPremium(context, body),
  }),
  post('/calculation/checkExistingPerilPremium', {
    summary: 'Try a premium formula on a peril that there is',
    description:
      'On the values of its policy, exposure and peril, by the configuration of the policy. 404 where there is no such peril; a formula that cannot be read, fails or passes a limit is 422, with its line. Nothing is stored.',
    permission: 'calculations.check',
    body: { schema: contract.CheckExistingPerilPremiumRequest, required: true },
    answer,
    handle: async ({ body }, context) => (await service()).checkExistingPerilPremium(context, body),
  }),
]
