// Responses of the interface as the console reads them: the service's own contracts, with every number as its digits.

import type { AuditPageResponse } from '../src/access/audit/contract.ts'
import type { AuthTokenResponse } from '../src/access/contract.ts'
import type { IdentityProviderResponse } from '../src/access/identity-providers/contract.ts'
import type { RoleResponse, UserListResponse, UserResponse } from '../src/access/roles/contract.ts'
import type { PluginLogPageResponse } from '../src/extension/plugins/contract-log.ts'
import type {
  CheckInvoicesResponse,
  PolicyholderCreditsResponse,
  PolicyPriceResponse,
} from '../src/policy/contract/billing.ts'
import type { PolicyResponse } from '../src/policy/contract/response.ts'
import type { PolicyListResponse } from '../src/policy/list/contract.ts'
import type { PolicyholderResponse } from '../src/policyholders/contract.ts'
import type { ResourceListResponse } from '../src/reference/contract.ts'
import type { TableDiffResponse } from '../src/reference/data-tables/contract.ts'
import type { ReportLinesResponse, ReportStatusResponse } from '../src/reporting/contract.ts'
import type { EventStreamResponse } from '../src/servicing/events/stream/contract.ts'
import type {
  DeliveryListResponse,
  FailedDeliveryListResponse,
  TestDeliveryResponse,
  WebhookListResponse,
  WebhookResponse,
} from '../src/servicing/events/webhooks/contract.ts'
import type {
  AccountMigrationResponse,
  ErrorDetailsResponse,
  MigrationFailuresResponse,
  MigrationListResponse,
  MigrationResponse,
} from '../src/servicing/migration/contract.ts'
import type { NoteListResponse } from '../src/servicing/notes/contract.ts'
import type { SearchResponse } from '../src/servicing/search/contract.ts'
import type { WorkListCountResponse, WorkListResponse } from '../src/servicing/work-lists/contract.ts'
import type {
  ConfigurationChange,
  DeploymentResponse,
  DeploymentVersionResponse,
  ProductResponse,
  VersionChangesResponse,
} from '../src/tenants/deployment/contract.ts'
import type {
  DeploymentLogPageResponse,
  DeploymentLogResponse,
} from '../src/tenants/deployment/log/contract.ts'
import type { FieldResponse, ProductDetailResponse } from '../src/tenants/deployment/product-contract.ts'
import type { CancellationResponse } from '../src/transactions/cancellations/contract.ts'
import type { EndorsementResponse } from '../src/transactions/endorsements/contract.ts'
import type { GracePeriodResponse } from '../src/transactions/lapses/contract.ts'
import type { PolicyPreviewResponse } from '../src/transactions/preview/contract.ts'
import type { PolicyQuoteResponse } from '../src/transactions/quotes/contract-quote.ts'
import type { RenewalResponse } from '../src/transactions/renewals/contract.ts'

/** Replaces numbers by text, so that no amount ever becomes a float. */
type Digits<T> = T extends number
  ? string
  : T extends readonly (infer Element)[]
    ? Digits<Element>[]
    : T extends object
      ? { [Name in keyof T]: Digits<T[Name]> }
      : T

export type Policy = Digits<PolicyResponse>
export type Segment = Policy['characteristics'][number]
export type Modification = Policy['modifications'][number]
export type Exposure = Policy['exposures'][number]
export type Peril = Exposure['perils'][number]
export type PerilSegment = Peril['characteristics'][number]
export type PolicyDocument = Policy['documents'][number]
export type Product = Digits<ProductResponse>
export type PolicyList = Digits<PolicyListResponse>
export type PolicySummary = PolicyList['policies'][number]
export type Policyholder = Digits<PolicyholderResponse>
export type Found = Digits<SearchResponse>
export type Billing = Digits<CheckInvoicesResponse>
export type Invoice = Billing['invoices'][number]
export type Credits = Digits<PolicyholderCreditsResponse>
export type GracePeriod = Digits<GracePeriodResponse>
export type Endorsement = Digits<EndorsementResponse>
export type Renewal = Digits<RenewalResponse>
export type Cancellation = Digits<CancellationResponse>
export type Reinstatement = NonNullable<Cancellation['reinstatements']>[number]
export type Quote = Digits<PolicyQuoteResponse>
export type Price = Digits<PolicyPriceResponse>
export type EventPage = Digits<EventStreamResponse>
export type Report = Digits<ReportStatusResponse>
export type ReportLines = Digits<ReportLinesResponse>
export type PolicyEvent = EventPage['events'][number]
export type Webhook = Digits<WebhookResponse>
export type Delivery = Digits<DeliveryListResponse>['items'][number]
export type WorkList = Digits<WorkListResponse>
export type WorkItem = WorkList['items'][number]
export type WorkCount = Digits<WorkListCountResponse>
export type FailedDeliveryList = Digits<FailedDeliveryListResponse>
export type FailedDelivery = FailedDeliveryList['items'][number]
export type MigrationList = Digits<MigrationListResponse>
export type MigrationSummary = MigrationList['items'][number]
export type ProductDetail = Digits<ProductDetailResponse>
/** Written out because it is recursive: a group contains fields. */
export type Field = Omit<Digits<Omit<FieldResponse, 'fields'>>, 'fields'> & {
  readonly fields?: readonly Field[]
}
export type Preview = Digits<PolicyPreviewResponse>
export type NoteList = Digits<NoteListResponse>
export type Note = NoteList['items'][number]

// Administration of a tenant.
export type DeployedVersion = Digits<DeploymentVersionResponse>
export type Deployment = Digits<DeploymentResponse>
export type DeploymentLogPage = Digits<DeploymentLogPageResponse>
export type DeploymentEntry = DeploymentLogPage['entries'][number]
export type DeploymentLog = Digits<DeploymentLogResponse>
export type VersionChanges = Digits<VersionChangesResponse>
export type Change = Digits<ConfigurationChange>
export type ResourceList = Digits<ResourceListResponse>
export type Resource = ResourceList['items'][number]
export type TableDifference = Digits<TableDiffResponse>
export type User = Digits<UserResponse>
export type UserList = Digits<UserListResponse>
export type Role = Digits<RoleResponse>
export type LongLivedToken = Digits<AuthTokenResponse>
export type IdentityProvider = Digits<IdentityProviderResponse>
export type WebhookList = Digits<WebhookListResponse>
export type DeliveryList = Digits<DeliveryListResponse>
export type TestDelivery = Digits<TestDeliveryResponse>
export type AuditPage = Digits<AuditPageResponse>
export type AuditEntry = AuditPage['entries'][number]
export type PluginLogPage = Digits<PluginLogPageResponse>
export type PluginCall = PluginLogPage['logs'][number]
export type Migration = Digits<MigrationResponse>
export type MigratedAccount = Digits<AccountMigrationResponse>
export type MigrationFailures = Digits<MigrationFailuresResponse>
export type MigrationFault = Digits<ErrorDetailsResponse>
