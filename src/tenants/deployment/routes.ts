import { z } from '@hono/zod-openapi'
import type { MultipartBody } from '../../platform/http/body/form.ts'
import { forAdministration, forSignedIn, forTenant, type Route } from '../../platform/http/route.ts'
import { LARGEST_ARCHIVE_BYTES } from '../../product/archive/read.ts'
import * as contract from './contract.ts'
import * as log from './log/contract.ts'
import { ProductDetailQuery, ProductDetailResponse } from './product-contract.ts'
import { listProducts, listVersions, readStatus, readVersion } from './versions.ts'

const { post } = forAdministration('Configuration deployment')
const signedIn = forSignedIn('Configuration deployment')
const tenant = forTenant('Configuration deployment')

/** Imported by the first calls: a lot of code for rare calls. */
const loadDeployment = () => import('./service.ts')
const loadReview = () => import('./review.ts')
const loadLog = () => import('./log/service.ts')

const DESCRIPTION =
  'The archive is checked completely before anything changes. If it has errors, the response is 200 with `success` false, and `logfile` lists every problem with its file and line.'

const withZip = <Schema extends z.ZodType>(schema: Schema): MultipartBody<Schema> => ({
  schema,
  file: 'zipFile',
  largestFileBytes: LARGEST_ARCHIVE_BYTES,
})

const deployAnswer = <Schema extends z.ZodType>(schema: Schema) => ({
  schema,
  description: 'The deployed configuration, or `success` false with the reasons.',
})

export const configurationRoutes: readonly Route[] = [
  post('/configuration/studio/deploy', {
    summary: 'Deploy to a test tenant as its next version',
    description: `Creates the tenant if none has that name. \`recreate\` gives an existing tenant fresh databases first. ${DESCRIPTION}`,
    permission: 'deployments.deploy',
    form: withZip(contract.StudioDeployForm),
    answer: deployAnswer(contract.DeployTestAssetResponse),
    handle: async ({ body, file }, context) => (await loadDeployment()).deployToTest(body, file, context),
  }),
  post('/configuration/deploy', {
    summary: 'Deploy to a production tenant as its next version',
    description: DESCRIPTION,
    permission: 'deployments.deploy',
    form: withZip(contract.DeployForm),
    answer: deployAnswer(contract.DeployProductionAssetResponse),
    handle: async ({ body, file }, context) =>
      (await loadDeployment()).deployToProduction(body, file, context),
  }),
  post('/configuration/studio/repair', {
    summary: "Replace the files of a test tenant's version",
    description: `Policies of the version continue with the new files, so these must still contain everything that the policies use. ${DESCRIPTION}`,
    permission: 'deployments.deploy',
    form: withZip(contract.RepairForm),
    answer: deployAnswer(contract.DeployProductionAssetResponse),
    handle: async ({ body, file }, context) => (await loadDeployment()).repair('test', body, file, context),
  }),
  post('/configuration/repair', {
    summary: "Replace the files of a production tenant's version",
    description: `Policies of the version continue with the new files, so these must still contain everything that the policies use. ${DESCRIPTION}`,
    permission: 'deployments.deploy',
    form: withZip(contract.RepairForm),
    answer: deployAnswer(contract.DeployProductionAssetResponse),
    handle: async ({ body, file }, context) =>
      (await loadDeployment()).repair('production', body, file, context),
  }),
  post('/configuration/deployTest', {
    summary: "Deploy to one of the administrator's own test tenants (legacy)",
    description: `The first deploy creates the tenant \`<user>-<suffix>\`. Later deploys replace its configuration, also for existing policies, so it must still contain everything that these use. Not for tenants with product versioning. ${DESCRIPTION}`,
    permission: 'deployments.deploy',
    form: withZip(contract.DeployTestForm),
    answer: deployAnswer(contract.DeployTestConfigurationLegacyResponse),
    handle: async ({ body, file }, context) => (await loadDeployment()).deployTest(body, file, context),
  }),
  post('/assets/v1/deploy', {
    summary: 'Deploy to a production tenant (older)',
    description: `If the tenant has product versioning, repairs the latest version. ${DESCRIPTION}`,
    permission: 'deployments.deploy',
    deprecated: true,
    form: withZip(contract.DeployForm),
    answer: deployAnswer(contract.DeployProductionAssetResponse),
    handle: async ({ body, file }, context) => (await loadDeployment()).deployAssets(body, file, context),
  }),
  post('/configuration/validate', {
    summary: 'Check an archive without deploying it',
    description:
      'Runs all checks of a deploy, and with `tenantName` also checks against the data of that tenant. Changes nothing, and needs no existing tenant.',
    permission: 'deployments.deploy',
    form: withZip(contract.ConfigurationValidationForm),
    answer: {
      schema: contract.ConfigurationValidationResponse,
      description: 'Whether the archive could be deployed, and the findings.',
    },
    handle: async ({ body, file }, context) =>
      (await loadReview()).validateConfiguration(body, file, context),
  }),
  post('/configuration/diff', {
    summary: 'Compare an archive with a deployed version',
    description:
      'Compares by meaning, as `bindery diff` does: spelling and the order of properties do not count. For an archive with errors, the response is 200 with `success` false and no changes. For a tenant that has no configuration yet, it is 200 with `success` true and no changes.',
    permission: 'deployments.deploy',
    form: withZip(contract.ConfigurationDifferenceForm),
    answer: {
      schema: contract.ConfigurationDifferenceResponse,
      description: 'The changes, and their effects on policies in force.',
    },
    handle: async ({ body, file }, context) => (await loadReview()).compareArchive(body, file, context),
  }),
  signedIn.get('/deployments/versions', {
    summary: 'List deploys and repairs',
    description: 'Oldest first. A repair is another entry of the same version.',
    permission: 'deployments.read',
    query: contract.DeploymentQuery,
    answer: {
      schema: z.array(contract.DeploymentVersionResponse),
      description: 'The deployed versions, with time and user.',
    },
    handle: ({ query }, context) => listVersions(query, context),
  }),
  signedIn.get('/deployments/log/list', {
    summary: 'List the log of deploys and repairs',
    description:
      'Bindery only. Newest first: every deploy and repair, and the newest 100 attempts that were rejected for errors in the archive. The log has no entries from before it was introduced, and none for a rejected attempt that would have created its tenant. A recreated tenant begins with an empty log.',
    permission: 'deployments.read',
    query: log.DeploymentLogQuery,
    answer: { schema: log.DeploymentLogPageResponse, description: 'A page of entries.' },
    handle: async ({ query }, context) => (await loadLog()).listLog(query, context),
  }),
  signedIn.get('/deployments/log/{logLocator}', {
    summary: 'Read an entry of the log of deploys and repairs',
    description:
      'Bindery only. The steps in order, and the findings. For callers who may download the archive, because findings quote it.',
    permission: 'deployments.download',
    query: contract.DeploymentQuery,
    answer: { schema: log.DeploymentLogResponse, description: 'The entry with its steps and findings.' },
    handle: async ({ params, query }, context) =>
      (await loadLog()).readLog(params.logLocator, query, context),
  }),
  signedIn.get('/deployments/log/{logLocator}/changes', {
    summary: 'List the changes of a deploy or repair',
    description:
      'Bindery only. Compares by meaning with the archive that was in force before: for a repair the one that it replaced, for a deploy that of the previous version. The first deploy and rejected attempts have no changes.',
    permission: 'deployments.download',
    query: contract.DeploymentQuery,
    answer: {
      schema: log.DeploymentLogChangesResponse,
      description: 'The changes, and their effects on policies in force.',
    },
    handle: async ({ params, query }, context) =>
      (await loadLog()).readLogChanges(params.logLocator, query, context),
  }),
  signedIn.get('/deployments/status', {
    summary: 'Read the deployment status of a version',
    permission: 'deployments.read',
    query: contract.DeploymentStatusQuery,
    answer: {
      schema: contract.DeploymentStatusResponse,
      description: 'The status of the version, or of the latest.',
    },
    handle: ({ query }, context) => readStatus(query, context),
  }),
  signedIn.get('/deployments/{configVersion}', {
    summary: 'Read the archive address of a version',
    description:
      '`latest` is the newest. For administrators, because an archive contains the passwords of its test users. With GET /deployments/versions, everyone can list what was deployed, when and by whom.',
    permission: 'deployments.download',
    query: contract.DeploymentQuery,
    answer: { schema: contract.DeploymentResponse, description: 'Address of the archive, and its history.' },
    handle: ({ params, query }, context) => readVersion(params.configVersion, query, context),
  }),
  signedIn.get('/deployments/{configVersion}/changes', {
    summary: 'List the changes of a version',
    description:
      'Compares by meaning with the previous version, or with `since`. The first version has no previous one and therefore no changes. `latest` is the newest. A repair counts as part of its version.',
    permission: 'deployments.download',
    query: contract.VersionChangesQuery,
    answer: {
      schema: contract.VersionChangesResponse,
      description: 'The changes, and their effects on policies in force.',
    },
    handle: async ({ params, query }, context) =>
      (await loadReview()).compareVersions(params.configVersion, query, context),
  }),
  tenant.get('/products', {
    permission: 'products.list',
    summary: 'List the products of the latest version',
    answer: {
      schema: z.array(contract.ProductResponse),
      description: 'Products, exposures, perils, payment schedules.',
    },
    handle: (_, context) => listProducts(context),
  }),
  tenant.get('/products/{productName}', {
    permission: 'products.read',
    summary: 'Read a product with its fields',
    description:
      'Bindery only. Everything that a form for policies, transactions, policyholders and payments needs: titles, types, conditions, limits and choices.',
    query: ProductDetailQuery,
    answer: { schema: ProductDetailResponse, description: 'The product.' },
    handle: async ({ params, query }, context) => {
      const { readProduct } = await import('./product.ts')
      return await readProduct(context, params.productName, query.configVersion)
    },
  }),
]
