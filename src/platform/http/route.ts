// A route: method, path, callers, contract and one handler. A capability's routes.ts exports an array of routes. app.ts mounts
// them all and builds the OpenAPI document from the same values.
import type { z } from '@hono/zod-openapi'
import { jsonTexts, LongList } from '../../kernel/json.ts'
import type { Instant } from '../../kernel/time.ts'
import type { JsonAnswer } from '../commit.ts'
import type { AdministrationContext, RequestContext } from '../context.ts'
import type { Tenant } from '../tenancy.ts'
import type { FilePart, MultipartBody } from './body/form.ts'
import type { Upload, UploadBody } from './body/upload.ts'
import type { Permission } from './permissions.ts'

export type Method = 'get' | 'post' | 'put' | 'patch' | 'delete'

export type Access =
  | { readonly kind: 'tenant'; readonly permissions: readonly Permission[] }
  | { readonly kind: 'administration'; readonly permissions: readonly Permission[] }
  /** Without permissions, the route concerns only the caller's own data. */
  | { readonly kind: 'signedIn'; readonly permissions?: readonly Permission[] }
  | { readonly kind: 'public' }

export type PublicContext = Omit<AdministrationContext, 'caller' | 'idempotency'> & {
  /** Whether the request is HEAD, which GET routes also serve. */
  readonly isHead: boolean
  readonly requestHeaders: Headers
  /** Scheme and host that the request was sent to. The caller chooses them. */
  readonly requestOrigin: string
}

/** A request with any valid token. `tenant` is undefined for an administration account. */
export type SignedInContext = AdministrationContext & {
  readonly tenant: Tenant | undefined
  /** Time of the sign-in by password. The token may have been renewed since. Undefined with a long-lived token. */
  readonly signedInAt: Instant | undefined
  /** How often the account's tokens had been revoked when this one was issued. 0 with a long-lived token. */
  readonly accountEpoch: number
  /** Scheme and host for addresses in responses. */
  readonly origin: string
}

const READY = Symbol('ready JSON text')

/** Finished JSON, e.g. from a policy's object. Sent unchanged except for addresses of files. Empty text for no body. */
export type JsonText = JsonAnswer & {
  readonly [READY]: true
  /** The media type, if it is not `application/json`: several JSON texts, one on each line. */
  readonly media?: string
  /** The list and its continuation, from which the links of a page are built. */
  readonly page?: object
}

/** Marks the response as finished JSON. `page` is the value of its text if that is a page of a list. */
export const jsonText = (answer: JsonAnswer, page?: object): JsonText => ({
  status: answer.status,
  text: answer.text,
  [READY]: true,
  ...(page && { page }),
})

/** An object as JSON, or an object with long lists (kernel/json.ts). */
export type Line = string | object

/** Builds a response with one object on each line. */
export function jsonLines(lines: readonly Line[]): ReadyAnswer {
  if (lines.every(line => typeof line === 'string'))
    return { ...jsonText({ status: 200, text: lines.map(line => `${line}\n`).join('') }), media: NDJSON }
  const texts = function* (): Generator<string> {
    for (const line of lines)
      if (typeof line === 'string') yield `${line}\n`
      else {
        yield* jsonTexts(line)
        yield '\n'
      }
  }
  return new LongAnswer(new LongList(() => lines), { texts, media: NDJSON })
}

export const NDJSON = 'application/x-ndjson'

export const isJsonText = (value: unknown): value is JsonText =>
  typeof value === 'object' && value !== null && READY in value

/** A response that may contain long lists (kernel/json.ts). If it does, its text is generated in parts. */
export class LongAnswer {
  readonly value: unknown
  readonly texts: () => Iterable<string>
  /** As in `JsonText`. */
  readonly page: object | undefined
  readonly media: string | undefined

  constructor(
    value: unknown,
    {
      page,
      media,
      texts = () => jsonTexts(value),
    }: Partial<Pick<LongAnswer, 'page' | 'media' | 'texts'>> = {},
  ) {
    this.value = value
    this.texts = texts
    this.page = page
    this.media = media
  }
}

export type ReadyAnswer = JsonText | LongAnswer

/** Returns the JSON in one text or several. A record that is not long is never split between texts. */
export const textsOf = (answer: ReadyAnswer): Iterable<string> =>
  answer instanceof LongAnswer ? answer.texts() : [answer.text]

/** The names in braces, each with a text. */
export type PathParameters<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? { readonly [K in Name]: string } & PathParameters<Rest>
  : unknown

type NoQuery = Readonly<Record<never, never>>

/** The input of a handler, all parsed by the route's contract. */
export type RouteInput<Path extends string, Query, Body, File> = {
  readonly params: PathParameters<Path>
  readonly query: Query
  readonly body: Body
  readonly file: File
  /** Whether the client requests the file itself (`Answer.fileMedia`). */
  readonly asksForFile: boolean
}

type Description = {
  /** One line, for the list of routes. */
  readonly summary: string
  /** Markdown. */
  readonly description?: string
  readonly deprecated?: boolean
  /** Set if a full database accepts it, because it erases data, or ends what a stolen token or password allows. */
  readonly worksWhenFull?: true
}

/**
 * A JSON body. Without one (no bytes, `""` or `null`; brief 0.12), a schema whose properties are all optional reads `{}`, except with
 * PUT. Otherwise `required: false` gives the handler undefined, and `required: true` is 400. `largestBytes` defaults to 4 MiB.
 * `isPassedOn` is as in `JsonReading`; the handler must then never copy the body by assignment.
 */
export type JsonBody<Schema extends z.ZodType, Required extends boolean> = {
  readonly schema: Schema
  readonly required: Required
  readonly largestBytes?: number
  readonly isPassedOn?: boolean
}

/** The success response. Without a schema there is no body (void), or one that is not JSON. */
export type Answer<Schema extends z.ZodType> = {
  readonly description: string
  readonly schema?: Schema
  /** Media type of a body that is not JSON. The handler builds the whole Response. */
  readonly media?: string
  /**
   * Media types of the file itself. A client whose Accept header names one gets the file instead of the JSON that describes it.
   */
  readonly fileMedia?: readonly string[]
  readonly status?: number
}

type Handled<Schema extends z.ZodType> = z.ZodType extends Schema
  ? Promise<void> | Promise<ReadyAnswer> | Promise<Response>
  : Promise<z.output<Schema> | ReadyAnswer>

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
  /** A z.object. A parameter given once is text, one given several times is a list, and `?name=` is empty text. */
  readonly query?: Query
  /** At most one of `body`, `form` and `upload`. */
  readonly body?: JsonBody<Body, Required>
  readonly form?: MultipartBody<Form>
  /** A file that the handler reads as it arrives (`input.file`). */
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

/** A route without its type parameters. */
export type Route = Description & {
  readonly method: Method
  readonly path: string
  /** Headings of the reference. */
  readonly tags: readonly string[]
  readonly access: Access
  readonly query?: z.ZodType
  readonly body?: JsonBody<z.ZodType, boolean>
  readonly form?: MultipartBody<z.ZodType>
  readonly upload?: UploadBody
  readonly answer: Answer<z.ZodType>
  /** Gets the parsed input and the context that `access` promises. */
  readonly handle: (input: never, context: never) => Promise<unknown>
}

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
 * Declares routes that need a tenant token with one of the permissions. `tag` is the heading of the reference. A `{tenantLocator}`
 * other than the signed-in tenant's gives 404.
 */
export const forTenant = (tag: string) =>
  routes<RequestContext, { readonly permission: Permissions }>('tenant', tag)

/** Declares routes that need the token of an administration account with the permission. */
export const forAdministration = (tag: string) =>
  routes<AdministrationContext, { readonly permission: Permission }>('administration', tag)

/**
 * Declares routes for tenant and administration accounts that have one of the permissions. Without permissions, a route concerns
 * only the caller's own sign-in.
 */
export const forSignedIn = (tag: string) =>
  routes<SignedInContext, { readonly permission?: Permissions }>('signedIn', tag)

/** Declares routes that need no token. Handlers get no caller and no idempotency key. */
export const publicRoutes = (tag: string) =>
  routes<PublicContext, { readonly permission?: never }>('public', tag)
