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
  /** Headings of the reference under which it stands. */
  readonly tags: readonly string[]
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

type JsonRoute<
  Path extends string,
  Query extends z.ZodType,
  Body extends z.ZodType,
  Required extends boolean,
  Result extends z.ZodType,
  Context,
> = Description & {
  readonly method: Method
  readonly path: Path
  /**
   * Query parameters, a z.object. A parameter that is given once is text, one that is given several times a
   * list of texts; `?name=` is the empty text.
   */
  readonly query?: Query
  readonly body?: JsonBody<Body, Required>
  readonly answer: Answer<Result>
  readonly handle: (
    input: RouteInput<
      Path,
      z.ZodType extends Query ? NoQuery : z.output<Query>,
      z.ZodType extends Body
        ? undefined
        : Required extends true
          ? z.output<Body>
          : z.output<Body> | undefined,
      undefined
    >,
    context: Context,
  ) => Handled<Result>
}

type FormRoute<
  Path extends string,
  Query extends z.ZodType,
  Form extends z.ZodType,
  Result extends z.ZodType,
  Context,
> = Omit<JsonRoute<Path, Query, z.ZodType, boolean, Result, Context>, 'body' | 'handle'> & {
  readonly form: MultipartBody<Form>
  readonly handle: (
    input: RouteInput<
      Path,
      z.ZodType extends Query ? NoQuery : z.output<Query>,
      z.output<Form>,
      FilePart | undefined
    >,
    context: Context,
  ) => Handled<Result>
}

type UploadRoute<Path extends string, Query extends z.ZodType, Result extends z.ZodType, Context> = Omit<
  JsonRoute<Path, Query, z.ZodType, boolean, Result, Context>,
  'body' | 'handle'
> & {
  readonly upload: UploadBody
  readonly handle: (
    input: RouteInput<Path, z.ZodType extends Query ? NoQuery : z.output<Query>, undefined, Upload>,
    context: Context,
  ) => Handled<Result>
}

/** A route with its types forgotten: what is mounted and documented. */
export type Route = Description & {
  readonly method: Method
  readonly path: string
  readonly access: Access
  readonly query?: z.ZodType
  readonly body?: JsonBody<z.ZodType, boolean>
  readonly form?: MultipartBody<z.ZodType>
  readonly upload?: UploadBody
  readonly answer: Answer<z.ZodType>
  /** Called with what the contract parsed and the context that `access` promises. */
  readonly handle: (input: never, context: never) => Promise<unknown>
}

/**
 * A route of a tenant's data: needs a tenant token whose account holds one of the permissions. A
 * `{tenantLocator}` in the path must be the signed-in tenant's, or the answer is 404.
 */
export function tenantRoute<
  const Path extends string,
  Query extends z.ZodType = z.ZodType,
  Body extends z.ZodType = z.ZodType,
  Required extends boolean = boolean,
  Result extends z.ZodType = z.ZodType,
>({
  permission,
  ...definition
}: JsonRoute<Path, Query, Body, Required, Result, RequestContext> & {
  readonly permission: Permission | readonly Permission[]
}): Route {
  return {
    ...definition,
    access: { kind: 'tenant', permissions: typeof permission === 'string' ? [permission] : permission },
  }
}

/** As `tenantRoute`, with a multipart form for a body. */
export function tenantFormRoute<
  const Path extends string,
  Form extends z.ZodType,
  Query extends z.ZodType = z.ZodType,
  Result extends z.ZodType = z.ZodType,
>({
  permission,
  ...definition
}: FormRoute<Path, Query, Form, Result, RequestContext> & { readonly permission: Permission }): Route {
  return { ...definition, access: { kind: 'tenant', permissions: [permission] } }
}

/** As `tenantRoute`, with a file for a body, which the handler reads as it comes (`input.file`). */
export function tenantUploadRoute<
  const Path extends string,
  Query extends z.ZodType = z.ZodType,
  Result extends z.ZodType = z.ZodType,
>({
  permission,
  ...definition
}: UploadRoute<Path, Query, Result, RequestContext> & { readonly permission: Permission }): Route {
  return { ...definition, access: { kind: 'tenant', permissions: [permission] } }
}

/** A route of the platform itself: needs the token of an administration account that holds the permission. */
export function administrationRoute<
  const Path extends string,
  Query extends z.ZodType = z.ZodType,
  Body extends z.ZodType = z.ZodType,
  Required extends boolean = boolean,
  Result extends z.ZodType = z.ZodType,
>({
  permission,
  ...definition
}: JsonRoute<Path, Query, Body, Required, Result, AdministrationContext> & {
  readonly permission: Permission
}): Route {
  return { ...definition, access: { kind: 'administration', permissions: [permission] } }
}

/** As `administrationRoute`, with a multipart form for a body. */
export function administrationFormRoute<
  const Path extends string,
  Form extends z.ZodType,
  Query extends z.ZodType = z.ZodType,
  Result extends z.ZodType = z.ZodType,
>({
  permission,
  ...definition
}: FormRoute<Path, Query, Form, Result, AdministrationContext> & { readonly permission: Permission }): Route {
  return { ...definition, access: { kind: 'administration', permissions: [permission] } }
}

/**
 * A route for whoever is signed in, to a tenant or as an administration account, and holds the permission, or
 * one of several. Without any it deals with the caller's own sign-in only.
 */
export function signedInRoute<
  const Path extends string,
  Query extends z.ZodType = z.ZodType,
  Body extends z.ZodType = z.ZodType,
  Required extends boolean = boolean,
  Result extends z.ZodType = z.ZodType,
>({
  permission,
  ...definition
}: JsonRoute<Path, Query, Body, Required, Result, SignedInContext> & {
  readonly permission?: Permission | readonly Permission[]
}): Route {
  const permissions = typeof permission === 'string' ? [permission] : permission
  return { ...definition, access: { kind: 'signedIn', ...(permissions && { permissions }) } }
}

/** A route that needs no token. */
export function publicRoute<
  const Path extends string,
  Query extends z.ZodType = z.ZodType,
  Body extends z.ZodType = z.ZodType,
  Required extends boolean = boolean,
  Result extends z.ZodType = z.ZodType,
>(definition: JsonRoute<Path, Query, Body, Required, Result, PublicContext>): Route {
  return { ...definition, access: { kind: 'public' } }
}
