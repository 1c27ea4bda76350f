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
const deploying = () => import('./service.ts')
const reviewing = () => import('./review.ts')
const logging = () => import('./log/service.ts')

const DESCRIPTION =
  'The archive is checked wholly before anything changes. A mistake in it is answered 200 with `success` false, and `logfile` lists every problem with its file and line.'

const withZip = <Schema extends z.ZodType>(schema: Schema): MultipartBody<Schema> => ({
  schema,
  file: 'zipFile',
  largestFileBytes: LARGEST_ARCHIVE_BYTES,
})

const deployedAs = <Schema extends z.ZodType>(schema: Schema) => ({
  schema,
  description: 'Deployed, or with `success` false refused with the reasons.',
})

export const configurationRoutes: readonly Route[] = [
  post('/configuration/studio/deploy', {
    summary: 'Deploy to a test tenant as its next version',
    description: `The tenant is made when there is none of that name. \`recreate\` gives an existing one fresh databases first. ${DESCRIPTION}`,
    permission: 'deployments.deploy',
    form: withZip(contract.StudioDeployForm),
    answer: deployedAs(contract.DeployTestAssetResponse),
    handle: async ({ body, file }, context) => (await deploying()).deployToTest(body, file, context),
  }),
  post('/configuration/deploy', {
    summary: 'Deploy to a production tenant as its next version',
    description: DESCRIPTION,
    permission: 'deployments.deploy',
    form: withZip(contract.DeployForm),
    answer: deployedAs(contract.DeployProductionAssetResponse),
    handle: async ({ body, file }, context) => (await deploying()).deployToProduction(body, file, context),
  }),
  post('/configuration/studio/repair', {
    summary: "Replace the files of a test tenant's version",
    description: `Policies of the version go on with the new files, so what they are made of must still be there. ${DESCRIPTION}`,
    permission: 'deployments.deploy',
    form: withZip(contract.RepairForm),
    answer: deployedAs(contract.DeployProductionAssetResponse),
    handle: async ({ body, file }, context) => (await deploying()).repair('test', body, file, context),
  }),
  post('/configuration/repair', {
    summary: "Replace the files of a production tenant's version",
    description: `Policies of the version go on with the new files, so what they are made of must still be there. ${DESCRIPTION}`,
    permission: 'deployments.deploy',
    form: withZip(contract.RepairForm),
    answer: deployedAs(contract.DeployProductionAssetResponse),
    handle: async ({ body, file }, context) => (await deploying()).repair('production', body, file, context),
  }),
  post('/configuration/deployTest', {
    summary: "Deploy to one of the administrator's own test tenants (legacy)",
    description: `The tenant \`<user>-<suffix>\` is made at the first deploy. Later deploys replace its configuration, for the policies that there are too, so what these are made of must still be there. Not for tenants with product versioning. ${DESCRIPTION}`,
    permission: 'deployments.deploy',
    form: withZip(contract.DeployTestForm),
    answer: deployedAs(contract.DeployTestConfigurationLegacyResponse),
    handle: async ({ body, file }, context) => (await deploying()).deployTest(body, file, context),
  }),
  post('/assets/v1/deploy', {
    summary: 'Deploy to a production tenant (older)',
    description: `Where the tenant has product versioning it repairs the latest version. ${DESCRIPTION}`,
    permission: 'deployments.deploy',
    deprecated: true,
    form: withZip(contract.DeployForm),
    answer: deployedAs(contract.DeployProductionAssetResponse),
    handle: async ({ body, file }, context) => (await deploying()).deployAssets(body, file, context),
  }),
  post('/configuration/validate', {
    summary: 'Check an archive without deploying it',
    description:
      'With everything that a deploy checks, and with `tenantName` against what the tenant has. Nothing is changed, and a tenant need not exist.',
    permission: 'deployments.deploy',
    form: withZip(contract.ConfigurationValidationForm),
    answer: {
      schema: contract.ConfigurationValidationResponse,
      description: 'Whether it would be deployed, and what was found.',
    },
    handle: async ({ body, file }, context) => (await reviewing()).validateConfiguration(body, file, context),
  }),
  post('/configuration/diff', {
    summary: 'What deploying an archive would change',
    description:
      'Compared by meaning, as `bindery diff` does: spelling and the order of properties do not count. An archive with errors is answered 200 with `success` false and no changes; so is one for a tenant that has no configuration yet, with `success` true.',
    permission: 'deployments.deploy',
    form: withZip(contract.ConfigurationDifferenceForm),
    answer: {
      schema: contract.ConfigurationDifferenceResponse,
      description: 'The changes, and what they mean for policies in force.',
    },
    handle: async ({ body, file }, context) => (await reviewing()).compareArchive(body, file, context),
  }),
  signedIn.get('/deployments/versions', {
    summary: 'List deploys and repairs',
    description: 'Oldest first; a repair is another entry of the same version.',
    permission: 'deployments.read',
    query: contract.DeploymentQuery,
    answer: {
      schema: z.array(contract.DeploymentVersionResponse),
      description: 'What was deployed, when, and by whom.',
    },
    handle: ({ query }, context) => listVersions(query, context),
  }),
  signedIn.get('/deployments/log/list', {
    summary: 'List the log of deploys and repairs',
    description:
      'Bindery only. Newest first: every deploy and repair, and the newest 100 attempts that were refused for mistakes in the archive. There is no entry of what was deployed before the log was kept, and none of an attempt that would have made its tenant. A tenant that is made again begins with an empty log.',
    permission: 'deployments.read',
    query: log.DeploymentLogQuery,
    answer: { schema: log.DeploymentLogPageResponse, description: 'A page of entries.' },
    handle: async ({ query }, context) => (await logging()).listLog(query, context),
  }),
  signedIn.get('/deployments/log/{logLocator}', {
    summary: 'Read an entry of the log of deploys and repairs',
    description:
      'Bindery only. What was done in which order, and what was found. For those who may download the archive: findings quote it.',
    permission: 'deployments.download',
    query: contract.DeploymentQuery,
    answer: { schema: log.DeploymentLogResponse, description: 'The entry with its steps and findings.' },
    handle: async ({ params, query }, context) =>
      (await logging()).readLog(params.logLocator, query, context),
  }),
  signedIn.get('/deployments/log/{logLocator}/changes', {
    summary: 'What a deploy or repair changed',
    description:
      'Bindery only. Compared by meaning with the archive that was in force before: of a repair the one that it replaced, of a deploy that of the version before. The first deploy, and an attempt that was refused, changed nothing.',
    permission: 'deployments.download',
    query: contract.DeploymentQuery,
    answer: {
      schema: log.DeploymentLogChangesResponse,
      description: 'The changes, and what they mean for policies in force.',
    },
    handle: async ({ params, query }, context) =>
      (await logging()).readLogChanges(params.logLocator, query, context),
  }),
  signedIn.get('/deployments/status', {
    summary: 'Whether a version is deployed',
    permission: 'deployments.read',
    query: contract.DeploymentStatusQuery,
    answer: { schema: contract.DeploymentStatusResponse, description: 'Of the version, or of the latest.' },
    handle: ({ query }, context) => readStatus(query, context),
  }),
  signedIn.get('/deployments/{configVersion}', {
    summary: 'The archive of a version',
    description:
      '`latest` is the newest. For administrators: an archive has the passwords of its test users. Everybody can list what was deployed, when and by whom with GET /deployments/versions.',
    permission: 'deployments.download',
    query: contract.DeploymentQuery,
    answer: { schema: contract.DeploymentResponse, description: 'Where to download it, and its history.' },
    handle: ({ params, query }, context) => readVersion(params.configVersion, query, context),
  }),
  signedIn.get('/deployments/{configVersion}/changes', {
    summary: 'What a version changed',
    description:
      'Compared by meaning with the version before it, or with `since`; the first version has none before it and answers no changes. `latest` is the newest. A repair counts as part of its version.',
    permission: 'deployments.download',
    query: contract.VersionChangesQuery,
    answer: {
      schema: contract.VersionChangesResponse,
      description: 'The changes, and what they mean for policies in force.',
    },
    handle: async ({ params, query }, context) =>
      (await reviewing()).compareVersions(params.configVersion, query, context),
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
    summary: 'A product with its fields',
    description:
      'Bindery only. What a form for its policies, transactions, policyholders and payments needs: titles, types, conditions, bounds and choices.',
    query: ProductDetailQuery,
    answer: { schema: ProductDetailResponse, description: 'The product.' },
    handle: async ({ params, query }, context) => {
      const { readProduct } = await import('./product.ts')
      return await readProduct(context, params.productName, query.configVersion)
    },
  }),
]
