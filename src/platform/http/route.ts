// What a route is: a method and path, who may call it, its contract, and one call. A capability's routes.ts
// exports an array of these; app.ts mounts them all and makes the OpenAPI document from the same values.
import type { z } from '@hono/zod-openapi'
import type { Instant } from '../../kernel/time.ts'
import type { JsonAnswer } from '../commit.ts'
import type { AdministrationContext, RequestContext } from '../context.ts'
import type { Tenant } from '../tenancy.ts'
import type { FilePart, MultipartBody } from './body/form.ts'
import type { Upload, UploadBody } from './body/upload.ts'
import type { Permission } from './permissions.ts'

export type Method = 'get' | 'post' | 'put' | 'patch' | 'delete'

/** Who may call a route. */
export type Access =
  | { readonly kind: 'tenant'; readonly permissions: readonly Permission[] }
  | { readonly kind: 'administration'; readonly permissions: readonly Permission[] }
  /** Without permissions: what concerns the caller alone. */
  | { readonly kind: 'signedIn'; readonly permissions?: readonly Permission[] }
  | { readonly kind: 'public' }

/** A request without a token. */
export type PublicContext = Omit<AdministrationContext, 'caller' | 'idempotency'> & {
  readonly requestHeaders: Headers
}

/**
 * A request with any valid token: of a tenant's account, or of an administration account, whose `tenant` is
 * undefined.
 */
export type SignedInContext = AdministrationContext & {
  readonly tenant: Tenant | undefined
  /** When the password was given; the token may have been renewed since. Undefined with a long-lived token. */
  readonly signedInAt: Instant | undefined
  /** How often the account's tokens had been revoked when this one was given; 0 with a long-lived one. */
  readonly accountEpoch: number
  /** Scheme and host that the client called, for addresses in answers. */
  readonly origin: string
}

const READY = Symbol('ready JSON text')

/** JSON that is text already, e.g. from a policy's object: sent as it is. Empty text: no body. */
export type JsonText = JsonAnswer & {
  readonly [READY]: true
  /** Of a page what its links are made of: the list, and how it goes on. */
  readonly page?: object
}

export const jsonText = (answer: JsonAnswer, page?: object): JsonText => ({
  status: answer.status,
  text: answer.text,
  [READY]: true,
  ...(page && { page }),
})

export const isJsonText = (value: unknown): value is JsonText =>
  typeof value === 'object' && value !== null && READY in value

/** The names in braces of a path, each a text. */
export type PathParameters<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? { readonly [K in Name]: string } & PathParameters<Rest>
  : unknown

type NoQuery = Readonly<Record<never, never>>

/** What a handler gets: everything parsed by the route's contract. */
export type RouteInput<Path extends string, Query, Body, File> = {
  readonly params: PathParameters<Path>
  readonly query: Query
  readonly body: Body
  readonly file: File
  /** Whether the client asks for the file itself, where the answer may be one (`Answer.fileMedia`). */
  readonly asksForFile: boolean
}

type Description = {
  /** One line, shown in the list of routes. */
  readonly summary: string
  /** More about it, Markdown. */
  readonly description?: string
  readonly deprecated?: boolean
}

/**
 * A JSON body. `required: false`: the handler gets undefined when there is none (no bytes, `""` or `null`;
 * brief 0.12). `largestBytes` is 4 MiB by default. `keepsProto`: a property named `__proto__` is data, and no reason to
 * refuse the body. The handler must never copy it by assignment.
 */
export type JsonBody<Schema extends z.ZodType, Required extends boolean> = {
  readonly schema: Schema
  readonly required: Required
  readonly largestBytes?: number
  readonly keepsProto?: boolean
}

/** The answer when all goes well. Without a schema there is no body (void), or one that is no JSON. */
export type Answer<Schema extends z.ZodType> = {
  readonly description: string
  readonly schema?: Schema
  /** Media type of a body that is no JSON; the handler makes the whole Response. */
  readonly media?: string
  /** Media types of the file that the answer is, in place of the JSON that names it, for a client whose Accept header names one. */
  readonly fileMedia?: readonly string[]
  /** 200 by default. */
  readonly status?: number
}

type Handled<Schema extends z.ZodType> = z.ZodType extends Schema
  ? Promise<void> | Promise<JsonText> | Promise<Response>
  : Promise<z.output<Schema> | JsonText>

type Definition<
  Path extends string,
  Query extends z.ZodType,
  Body extends z.ZodType,
  Required extends boolean,
  Form extends z.ZodType,
  File extends UploadBody | undefined,
  Result extends z.ZodType,
  Context,
> = Description & {
  /**
   * Query parameters, a z.object. A parameter that is given once is text, one that is given several times a
   * list of texts; `?name=` is the empty text.
   */
  readonly query?: Query
  /** At most one of `body`, `form` and `upload`. */
  readonly body?: JsonBody<Body, Required>
  readonly form?: MultipartBody<Form>
  /** A file, which the handler reads as it arrives (`input.file`). */
  readonly upload?: File
  readonly answer: Answer<Result>
  readonly handle: (
    input: RouteInput<
      Path,
      z.ZodType extends Query ? NoQuery : z.output<Query>,
      z.ZodType extends Form ? BodyOf<Body, Required> : z.output<Form>,
      File extends UploadBody ? Upload : z.ZodType extends Form ? undefined : FilePart | undefined
    >,
    context: Context,
  ) => Handled<Result>
}

type BodyOf<Body extends z.ZodType, Required extends boolean> = z.ZodType extends Body
  ? undefined
  : Required extends true
    ? z.output<Body>
    : z.output<Body> | undefined

/** A route with its types forgotten: what is mounted and documented. */
export type Route = Description & {
  readonly method: Method
  readonly path: string
  /** Headings of the reference that list it. */
  readonly tags: readonly string[]
  readonly access: Access
  readonly query?: z.ZodType
  readonly body?: JsonBody<z.ZodType, boolean>
  readonly form?: MultipartBody<z.ZodType>
  readonly upload?: UploadBody
  readonly answer: Answer<z.ZodType>
  /** Called with what the contract parsed and the context that `access` promises. */
  readonly handle: (input: never, context: never) => Promise<unknown>
}

/** A function for each method: takes the path and the definition, and returns the route. */
type Routes<Context, Permitted> = {
  readonly [method in Method]: <
    const Path extends string,
    Query extends z.ZodType = z.ZodType,
    Body extends z.ZodType = z.ZodType,
    Required extends boolean = boolean,
    Form extends z.ZodType = z.ZodType,
    File extends UploadBody | undefined = undefined,
    Result extends z.ZodType = z.ZodType,
  >(
    path: Path,
    definition: Permitted & Definition<Path, Query, Body, Required, Form, File, Result, Context>,
  ) => Route
}

type Permissions = Permission | readonly Permission[]

function routes<Context, Permitted extends { readonly permission?: Permissions }>(
  kind: Access['kind'],
  tag: string,
): Routes<Context, Permitted> {
  const routeOf =
    (method: Method) =>
    (
      path: string,
      { permission, ...definition }: Permitted & Omit<Route, 'method' | 'path' | 'tags' | 'access'>,
    ): Route => {
      const permissions = typeof permission === 'string' ? [permission] : permission
      const access = { kind, ...(permissions && { permissions }) } as Access
      return { ...definition, method, path, tags: [tag], access }
    }
  const [get, post, put, patch] = (['get', 'post', 'put', 'patch'] as const).map(routeOf)
  return { get, post, put, patch, delete: routeOf('delete') } as Routes<Context, Permitted>
}

/**
 * Routes of a tenant's data, under the heading `tag` of the reference: they need a tenant token whose account holds
 * one of the permissions. A `{tenantLocator}` in the path must be the signed-in tenant's, or the answer is 404.
 */
export const forTenant = (tag: string) =>
  routes<RequestContext, { readonly permission: Permissions }>('tenant', tag)

/** Routes of the platform itself: they need the token of an administration account that holds the permission. */
export const forAdministration = (tag: string) =>
  routes<AdministrationContext, { readonly permission: Permission }>('administration', tag)

/**
 * Routes for callers who are signed in, to a tenant or as an administration account, and hold one of the permissions.
 * A route without permissions concerns the caller's own sign-in only.
 */
export const forSignedIn = (tag: string) =>
  routes<SignedInContext, { readonly permission?: Permissions }>('signedIn', tag)

/** Routes that need no token. */
export const forEverybody = (tag: string) =>
  routes<PublicContext, { readonly permission?: never }>('public', tag)
