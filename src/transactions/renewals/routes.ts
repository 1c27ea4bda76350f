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
    create: 'Renew a policy: another term from where it ends',
    verb: 'Renew',
    doing: 'renewing',
    done: 'renewed',
  },
  legacyPaths: { issue: 'issueRenewal', price: 'previewRenewalPrice' },
})
