import type { Route } from '../../platform/http/route.ts'
import { RENEWALS } from '../endorsements/projection.ts'
import { transactionRoutes } from '../endorsements/routes.ts'
import {
  RenewalActionRequest,
  RenewalCreateRequest,
  RenewalIssueRequest,
  RenewalResponse,
} from './contract.ts'

export const renewalRoutes: readonly Route[] = transactionRoutes('Renewals', {
  kind: 'renewal',
  records: RENEWALS,
  contracts: {
    create: RenewalCreateRequest,
    issue: RenewalIssueRequest,
    action: RenewalActionRequest,
    response: RenewalResponse,
  },
  texts: {
    create: 'Create a renewal, which adds a term after the end of a policy',
    verb: 'Renew',
    doing: 'renewing',
    done: 'renewed',
  },
  legacyPaths: { issue: 'issueRenewal', price: 'previewRenewalPrice' },
})
