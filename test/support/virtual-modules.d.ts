declare module 'virtual:example-files' {
  const files: Readonly<Record<string, string>>
  export default files
}

/** The part of the package that the tests use (support/oidc-provider.ts). */
declare module 'oidc-provider' {
  import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'

  type Grant = { addOIDCScope(scopes: string): void; save(): Promise<string> }
  type Context = {
    oidc: {
      provider: { Grant: new (of: { accountId: string; clientId: string }) => Grant }
      session: { accountId: string }
      client: { clientId: string }
    }
  }
  type Configuration = {
    findAccount(
      context: unknown,
      subject: string,
    ): { accountId: string; claims(): Promise<Record<string, unknown>> } | undefined
    loadExistingGrant(context: Context): Promise<Grant>
    interactions: { url(context: unknown, interaction: { uid: string }): string }
    [setting: string]: unknown
  }
  export default class Provider {
    constructor(issuer: string, configuration: Configuration)
    callback(): RequestListener
    interactionFinished(request: IncomingMessage, response: ServerResponse, result: object): Promise<void>
  }
}
